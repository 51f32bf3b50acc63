import type { AssetDescription } from './events.js';

/** Returns what an asset uses of the payer's capacity, in bytes: its own file and its renditions. */
export function bytesOfAsset({ size, renditions }: Pick<AssetDescription, 'size' | 'renditions'>): number {
  return renditions.reduce((sum, rendition) => sum + (rendition.size ?? 0), size);
}

/** Returns the entry that announces an added asset in the total of its project (docs/design.md#totals). */
export function addingOf(assetId: string): string {
  return `+${assetId}`;
}

/** Returns the entry that announces a removed asset. */
export function removingOf(assetId: string): string {
  return `-${assetId}`;
}

/** Returns the asset that an entry announces, and the state of an asset whose command ended without an event. */
export function announcedBy(entry: string): {
  readonly assetId: string;
  readonly before: 'absent' | 'existing';
} {
  return { assetId: entry.slice(1), before: entry.startsWith('+') ? 'absent' : 'existing' };
}
