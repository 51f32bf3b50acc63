import type { ShareEvent } from './events.js';

/** The fields that the aggregate and the view both fold, spelled as in the events. */
export type ShareFields = {
  /** Null: the share does not expire. */
  readonly expires_at: string | null;
  /** Null: not limited. */
  readonly max_uses: number | null;
  readonly allow_download: boolean;
  /** Counts the passwords from 1. */
  readonly password_generation: number;
  /** Counted while `max_uses` is set. */
  readonly uses: number;
};

export function newShare({
  expires_at,
  max_uses,
  allow_download,
}: Pick<ShareFields, 'expires_at' | 'max_uses' | 'allow_download'>): ShareFields {
  return { expires_at, max_uses, allow_download, password_generation: 1, uses: 0 };
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

/** Returns the remaining uses; null if uses are not limited. */
export function remainingUses({ max_uses, uses }: Pick<ShareFields, 'max_uses' | 'uses'>): number | null {
  return max_uses === null ? null : Math.max(0, max_uses - uses);
}
