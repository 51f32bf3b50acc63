import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { ShareEvent } from './events.js';

/** The terms of a share, spelled as in the events. */
export type StoredTerms = Extract<ShareEvent, { type: 'ShareChanged' }>['data'];

/** The fields that the aggregate and the view both fold, spelled as in the events. */
export type ShareFields = {
  /** Null: the share does not expire. */
  readonly expires_at: string | null;
  /** Null: not limited. */
  readonly max_uses: number | null;
  readonly allow_download: boolean;
  /** Sealed for the share. */
  readonly title: Sealed | null;
  readonly note: Sealed | null;
  readonly frame_ancestors: readonly string[];
  readonly notify_sharer: boolean;
  readonly show_sender: boolean;
  /** Counts the passwords from 1. */
  readonly password_generation: number;
  /** Counted while `max_uses` is set. */
  readonly uses: number;
};

export function newShare(terms: StoredTerms): ShareFields {
  return { ...termsOf(terms), password_generation: 1, uses: 0 };
}

/** Picks the terms from an event that has more fields. */
export function termsOf({
  expires_at,
  max_uses,
  allow_download,
  title,
  note,
  frame_ancestors,
  notify_sharer,
  show_sender,
}: Omit<ShareFields, 'password_generation' | 'uses'>): StoredTerms {
  const framing = { frame_ancestors: [...frame_ancestors], notify_sharer, show_sender };
  return { expires_at, max_uses, allow_download, title, note, ...framing };
}

/** Returns the fields that the event changes. */
export function applyEvent(
  { password_generation, uses }: ShareFields,
  event: Exclude<ShareEvent, { type: 'ShareCreated' | 'ShareRevoked' }>,
): Partial<ShareFields> {
  switch (event.type) {
    case 'ShareChanged':
      return event.data;
    case 'SharePasswordChanged':
      return { password_generation: password_generation + 1 };
    case 'ShareUsed':
      return { uses: uses + 1 };
    case 'ShareVerificationThrottled':
    case 'ShareGuessingLimitReached':
      return {};
  }
}

/** Returns the assets that the creator chose, in that order; none for a share of a tag. */
export function chosenAssets({
  asset_id,
  more_asset_ids,
}: Pick<
  Extract<ShareEvent, { type: 'ShareCreated' }>['data'],
  'asset_id' | 'more_asset_ids'
>): readonly string[] {
  return asset_id === null ? [] : [asset_id, ...more_asset_ids];
}

/** Returns the remaining uses; null if uses are not limited. */
export function remainingUses({ max_uses, uses }: Pick<ShareFields, 'max_uses' | 'uses'>): number | null {
  return max_uses === null ? null : Math.max(0, max_uses - uses);
}
