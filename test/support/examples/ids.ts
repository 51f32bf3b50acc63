/** UUIDv7s of January 2026. */
export const userId = '019b7d00-0000-7000-8000-000000000001';
export const otherUserId = '019b7d00-0000-7000-8000-000000000002';
export const projectId = '019b7d00-0000-7000-8000-000000000011';
export const otherProjectId = '019b7d00-0000-7000-8000-000000000012';
export const storageId = '019b7d00-0000-7000-8000-000000000021';
export const sessionId = '019b7d00-0000-7000-8000-000000000031';
export const nodeId = '019b7d00-0000-7000-8000-000000000041';
export const orderId = '019b7d00-0000-7000-8000-000000000051';

export const digest = 'ab'.repeat(32);
export const otherDigest = 'cd'.repeat(32);
export const testId = '019b7d00-0000-7000-8000-000000000061';
export const otherTestId = '019b7d00-0000-7000-8000-000000000062';
export const assetId = '019b7d00-0000-7000-8000-000000000071';
export const shareId = '019b7d00-0000-7000-8000-000000000081';
export const accessId = '019b7d00-0000-7000-8000-000000000091';
export const otherAccessId = '019b7d00-0000-7000-8000-000000000092';

export const change_id = '019b7d00-0000-7000-8000-000000000071';
export const otherChangeId = '019b7d00-0000-7000-8000-000000000072';
