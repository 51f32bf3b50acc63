import type { LoginCodeEvent } from '../../../src/areas/accounts/domain/login-code/events.js';
import type {
  LoginCodeIssue,
  LoginCodeState,
} from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { userId } from './ids.js';
import { sealedExample } from './sealed.js';

export const issue_id = '019b7d00-0000-7000-8000-000000000061';
export const laterIssueId = '019b7d00-0000-7000-8000-000000000062';

export function loginCodeIssued(issue: string) {
  return {
    type: 'LoginCodeIssued',
    data: {
      issue_id: issue,
      user_id: userId,
      email: sealedExample('ada@example.com'),
      code_key_id: 'c1',
      expires_at: '2026-01-02T03:14:05.000Z',
      strong: false,
      requester: 'unknown',
    },
  } as const satisfies LoginCodeEvent;
}

export const loginCodeWithheld = {
  type: 'LoginCodeWithheld',
  data: { requester: 'unknown' },
} as const satisfies LoginCodeEvent;
export const attemptFailed = {
  type: 'LoginCodeAttemptFailed',
  data: { issue_id, requester: 'unknown' },
} as const satisfies LoginCodeEvent;
export const loginCodeUsed = {
  type: 'LoginCodeUsed',
  data: { issue_id },
} as const satisfies LoginCodeEvent;

/** Returns the code that was issued last, to any client. */
export function newestIssue({ known, unknown, strong }: LoginCodeState): LoginCodeIssue | null {
  const issues = [known.issue, unknown.issue, ...strong].filter((issue) => issue !== null);
  return (
    issues.toSorted((one, other) => Date.parse(other.expires_at) - Date.parse(one.expires_at))[0] ?? null
  );
}
