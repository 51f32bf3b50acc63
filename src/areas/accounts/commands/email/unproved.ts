import type { AccountDeps } from '../../deps.js';
import {
  type Asked,
  type Reaction,
  type ReactionEvent,
  on,
} from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import type { UserEvent } from '../../domain/user/events.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import { erasureWarningMessage } from '../../mail/messages.js';
import type { Erasing, Holdings } from '../erasing.js';
import type { KnownDevices } from '../signing-in/known-devices.js';

/** What comes next for an account without a proved address; null: it stays for good. */
type UnprovedVerdict =
  { readonly step: 'warn' | 'erase'; readonly user: RegisteredUser } | { readonly notBefore: Date } | null;

const dayMs = 86_400_000;
/** A mail warns the person this long before the erasure. */
const warningMs = 7 * dayMs;

type PurgeUnproved = ReturnType<typeof makePurgeUnproved>;

/**
 * Warns and erases accounts whose address was never proved: src/areas/accounts/README.md#unproved-accounts. They are idle for some days after the mail
 * with the code that proves the address. `idleDays`: whole days, at least 1.
 */
export function makePurgeUnproved(
  deps: AccountDeps &
    Pick<Erasing, 'finishErasure'> & {
      readonly holdings: Pick<Holdings, 'keepUnproved'>;
      readonly knownDevices: Pick<KnownDevices, 'noteSession' | 'lastSessionAt'>;
    },
) {
  const { handler, clock, holdings, knownDevices, finishErasure } = deps;
  return {
    judge,
    /** Erases the account if it is still to be erased. A repetition changes nothing. @throws StoreUnavailable */
    purge: async (userId: string, idleDays: number, context: CommandContext): Promise<void> => {
      const verdict = await judge(userId, idleDays);
      if (verdict === null || 'notBefore' in verdict || verdict.step !== 'erase') return;
      await handler.handle(userAggregate.at(userId), { type: 'EraseUnproved' }, context, {
        revokesAccess: true,
      });
      // From here on, a reaction completes the erasure if this process crashes, and deletes the projects. Where the user has proved
      // the address meanwhile, the account exists and this does nothing.
      await finishErasure({ userId }, context);
    },
  };

  async function judge(userId: string, idleDays: number): Promise<UnprovedVerdict> {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || user.email_verified) return null;
    const now = clock.now().getTime();
    const next = nextOf(user, idleDays, await sessionAt(userId));
    if (next === null) return null;
    if (now < next.atMs) return { notBefore: new Date(next.atMs) };
    if (user.banned || (await holdings.keepUnproved(userId, clock.now())))
      return { notBefore: new Date(now + dayMs) };
    return { step: next.step, user };
  }

  /** Returns when a session last began or was refreshed. Where the state store has lost that, the account counts as seen now. */
  async function sessionAt(userId: string): Promise<Date> {
    const at = await knownDevices.lastSessionAt(userId);
    if (at === null) await knownDevices.noteSession(userId);
    return at ?? clock.now();
  }
}

/** Returns what is due next, a warning or the erasure after it, and when, in epoch milliseconds; null: nothing, for good. */
function nextOf(
  { verificationMailedAt, warning }: RegisteredUser,
  idleDays: number,
  seenAt: Date,
): { readonly step: 'warn' | 'erase'; readonly atMs: number } | null {
  if (verificationMailedAt === null || (warning !== null && warning.outcome !== 'accepted')) return null;
  const endsAt = Math.max(verificationMailedAt.getTime(), seenAt.getTime()) + idleDays * dayMs;
  const warnsAt = endsAt - warningMs;
  const warnedAt = warning?.at.getTime() ?? -Infinity;
  // A session or a code after the warning puts the erasure off, and another mail warns of it. Clocks differ by less than a day.
  if (warnedAt < warnsAt - dayMs) return { step: 'warn', atMs: warnsAt };
  return { step: 'erase', atMs: Math.max(endsAt, warnedAt + warningMs) };
}

interface PurgeDeps {
  readonly purgeUnproved: PurgeUnproved;
  /** Whole days, at least 1. */
  readonly unprovedAccountDays: number;
}

type Followed = Extract<UserEvent, { type: 'EmailVerificationMailed' | 'UnprovedWarned' }>;

/**
 * Warns accounts without a proved address by mail, seven days before their erasure, and again where a session or a code after a warning
 * has put it off. It follows the mails with the code, so an account that never got one, because the service could not send mail, stays.
 */
export function warnUnprovedAccounts(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer'> & PurgeDeps,
): Reaction<Followed> {
  const { handler, sealer, publicUrl, purgeUnproved, unprovedAccountDays } = deps;
  const mail = makeMailReaction(deps, userAggregate, ['EmailVerificationMailed', 'UnprovedWarned'], {
    name: 'warn-unproved-accounts',
    prepare: async (userId, event) => {
      const verdict = await judge(event);
      if (verdict === null || 'notBefore' in verdict || verdict.step !== 'warn') return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', verdict.user.email);
      return { to, person: userId, ...erasureWarningMessage({ publicUrl }) };
    },
    record: (id, event, outcome, context) => {
      const after = event.type === 'UnprovedWarned' ? event.recordedAt : null;
      const command = { type: 'MarkUnprovedWarned', after, outcome } as const;
      return handler.handle(userAggregate.at(id), command, context);
    },
  });
  return { ...mail, hasTimers: true, asks: async (event) => asked(await judge(event), 'warn') };

  async function judge(event: ReactionEvent<Followed>): Promise<UnprovedVerdict> {
    if (event.data.outcome !== 'accepted') return null;
    const verdict = await purgeUnproved.judge(streamIdOf(event), unprovedAccountDays);
    return verdict !== null && 'step' in verdict && !isLast(event, verdict.user) ? null : verdict;
  }
}

/** Of several mails with a code, the last one leads to the first warning, and each warning to the next one. */
function isLast(event: ReactionEvent<Followed>, { verificationMailedAt, warning }: RegisteredUser): boolean {
  const last = warning ?? { at: verificationMailedAt };
  const isOfKind = (event.type === 'UnprovedWarned') === (warning !== null);
  return isOfKind && last.at?.getTime() === event.recordedAt.getTime();
}

/** Erases accounts without a proved address after the mail that warned them: src/areas/accounts/README.md#unproved-accounts. */
export const purgeUnprovedAccounts = ({ purgeUnproved, unprovedAccountDays }: PurgeDeps) =>
  on(userAggregate, ['UnprovedWarned'], {
    name: 'purge-unproved-accounts',
    hasTimers: true,
    isDue: async (userId, { data }) =>
      data.outcome === 'accepted' && asked(await purgeUnproved.judge(userId, unprovedAccountDays), 'erase'),
    run: (userId, context) => purgeUnproved.purge(userId, unprovedAccountDays, context),
  });

function asked(verdict: UnprovedVerdict, step: 'warn' | 'erase'): Asked {
  if (verdict === null) return 'no';
  if ('notBefore' in verdict) return verdict;
  return verdict.step === step ? 'yes' : 'no';
}
