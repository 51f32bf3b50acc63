import type { NewShare, ShareEvent } from './events.js';

/** The fields that the aggregate and the view both fold. */
export type ShareFields = Omit<NewShare, 'password_hash' | 'password_class'> & {
  /** Counts the passwords from 1. */
  readonly password_generation: number;
  /** Counted while `max_uses` is set. */
  readonly uses: number;
};

export function newShare({ password_hash: _, password_class: __, ...share }: NewShare): ShareFields {
  return { ...share, password_generation: 1, uses: 0 };
}

/** Returns the fields that the event changes. */
export function applyEvent(
  { password_generation, uses }: Pick<ShareFields, 'password_generation' | 'uses'>,
  { type, data }: ShareEvent,
): Partial<ShareFields> {
  if (type === 'ShareChanged') return data;
  if (type === 'SharePasswordChanged') return { password_generation: password_generation + 1 };
  return type === 'ShareUsed' ? { uses: uses + 1 } : {};
}

/** Returns the remaining uses; null if uses are not limited. */
export function remainingUses({ max_uses, uses }: Pick<ShareFields, 'max_uses' | 'uses'>): number | null {
  return max_uses === null ? null : Math.max(0, max_uses - uses);
}
