import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';

/** What was given by an account, and is to end. */
export interface EndedGifts {
  readonly userId: string;
  /** Ends what was given until then; null: everything. */
  readonly until: Date | null;
  /** Whether members that the account added leave, or only its API keys and invitations end. */
  readonly members: 'end' | 'stay';
}

/**
 * What an account has in other areas. Those areas depend on accounts, so they implement it. Every method is idempotent.
 * @throws StoreUnavailable
 */
export interface Holdings {
  /**
   * Returns whether the views show what keeps an account without a proved address: a live API key or another member in a project of it,
   * or an order of it or of its projects that has not failed, expired or been canceled.
   */
  keepUnproved(userId: string, now: Date): Promise<boolean>;
  /**
   * Deletes the projects that have no other member. It judges all before it deletes the first.
   * @throws CommandRejected project_has_members where a project with other members would lose its owner or its payer
   */
  deleteOwnedAlone(userId: string, context: CommandContext): Promise<void>;
  /** Ends the memberships of an erased account, and its API keys. */
  removeErasedMember(userId: string, context: CommandContext): Promise<void>;
  /** Ends the access to projects that the account gave. */
  endGiven(ended: EndedGifts, context: CommandContext): Promise<void>;
}
