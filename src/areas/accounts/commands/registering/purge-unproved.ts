import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import type { Holdings } from '../account/holdings.js';
import type { FinishErasure } from '../account/finish-erasure.js';
import type { KnownDevices } from '../signing-in/known-devices.js';

/** What comes next for an account without a proved address; null: it stays for good. */
export type UnprovedVerdict =
  { readonly step: 'warn' | 'erase'; readonly user: RegisteredUser } | { readonly notBefore: Date } | null;

/**
 * Warns and erases accounts whose address was never proved: src/areas/accounts/README.md#unproved-accounts. They are idle for some days after the mail
 * with the code that proves the address.
 */
export interface PurgeUnproved {
  /** @param idleDays whole days, at least 1 */
  judge(userId: string, idleDays: number): Promise<UnprovedVerdict>;
  /** Erases the account if it is still to be erased. A repetition changes nothing. @throws StoreUnavailable */
  purge(userId: string, idleDays: number, context: CommandContext): Promise<void>;
}

const dayMs = 86_400_000;
/** A mail warns the person this long before the erasure. */
const warningMs = 7 * dayMs;

export function makePurgeUnproved({
  handler,
  clock,
  holdings,
  knownDevices,
  finishErasure,
}: Pick<AccountDeps, 'handler' | 'clock'> & {
  readonly holdings: Pick<Holdings, 'keepUnproved'>;
  readonly knownDevices: Pick<KnownDevices, 'noteSession' | 'lastSessionAt'>;
  readonly finishErasure: FinishErasure;
}): PurgeUnproved {
  return {
    judge,
    purge: async (userId, idleDays, context) => {
      const verdict = await judge(userId, idleDays);
      if (verdict === null || 'notBefore' in verdict || verdict.step !== 'erase') return;
      const target = { aggregate: userAggregate, id: userId };
      await handler.handle(target, { type: 'EraseUnproved' }, context, { revokesAccess: true });
      // From here on, a reaction completes the erasure if this process crashes, and deletes the projects. Where the user has proved
      // the address meanwhile, the account exists and this does nothing.
      await finishErasure({ userId }, context);
    },
  };

  async function judge(userId: string, idleDays: number): Promise<UnprovedVerdict> {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || user.email_verified) return null;
    const now = clock.now().getTime();
    const dueAt = dueAtOf(user, idleDays, await sessionAt(userId));
    if (dueAt === null) return null;
    if (now < dueAt) return { notBefore: new Date(dueAt) };
    if (user.banned || (await holdings.keepUnproved(userId, clock.now())))
      return { notBefore: new Date(now + dayMs) };
    return { step: user.warning === null ? 'warn' : 'erase', user };
  }
  /** Returns when a session last began or was refreshed. Where the state store has lost that, the account counts as seen now. */
  async function sessionAt(userId: string): Promise<Date> {
    const at = await knownDevices.lastSessionAt(userId);
    if (at === null) await knownDevices.noteSession(userId);
    return at ?? clock.now();
  }
}

/** Returns when the warning is due, or the erasure after it, in epoch milliseconds; null: never. */
function dueAtOf(
  { verificationMailedAt, warning }: RegisteredUser,
  idleDays: number,
  seenAt: Date,
): number | null {
  if (verificationMailedAt === null || (warning !== null && warning.outcome !== 'accepted')) return null;
  const endsAt = Math.max(verificationMailedAt.getTime(), seenAt.getTime()) + idleDays * dayMs;
  return warning === null ? endsAt - warningMs : Math.max(endsAt, warning.at.getTime() + warningMs);
}
