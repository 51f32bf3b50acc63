import { userCategory, userCodec, type UserEvent } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Asked, Reaction, ReactionEvent } from '../../../../event-sourcing/effects/reaction.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AccountDeps } from '../../deps.js';
import { erasureWarningMessage } from '../../mail/messages.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import type { PurgeUnproved } from './purge-unproved.js';

type EmailVerificationMailed = Extract<UserEvent, { type: 'EmailVerificationMailed' }>;
type UnprovedWarned = Extract<UserEvent, { type: 'UnprovedWarned' }>;

interface PurgeDeps {
  readonly purgeUnproved: PurgeUnproved;
  /** Whole days, at least 1. */
  readonly unprovedAccountDays: number;
}

/**
 * Warns accounts without a proved address by mail, seven days before their erasure. It follows the mails with the code, so an account
 * that never got one, because the service could not send mail, stays.
 */
export function makeWarnUnprovedAccounts(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer'> & PurgeDeps,
): Reaction<EmailVerificationMailed> {
  const { handler, sealer, publicUrl, purgeUnproved, unprovedAccountDays } = deps;
  const mail = makeMailReaction<EmailVerificationMailed>(deps, {
    name: 'warn-unproved-accounts',
    category: userCategory,
    codec: userCodec,
    types: ['EmailVerificationMailed'],
    prepare: async (event) => {
      const userId = streamIdOf(event);
      const verdict = await judge(event);
      if (verdict === null || 'notBefore' in verdict || verdict.step !== 'warn') return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', verdict.user.email);
      return to === erased ? null : { to, person: userId, ...erasureWarningMessage({ publicUrl }) };
    },
    record: async (event, outcome, context) => {
      const target = { aggregate: userAggregate, id: streamIdOf(event) };
      await handler.handle(target, { type: 'MarkUnprovedWarned', outcome }, context);
    },
  });
  return {
    ...mail,
    hasTimers: true,
    asks: async (event) => asked(await judge(event), 'warn'),
  };

  /** Of several mails with a code, the last one warns. */
  async function judge(event: ReactionEvent<EmailVerificationMailed>) {
    if (event.data.outcome !== 'accepted') return null;
    const verdict = await purgeUnproved.judge(streamIdOf(event), unprovedAccountDays);
    const isOlder =
      verdict !== null &&
      'step' in verdict &&
      verdict.user.verificationMailedAt?.getTime() !== event.recordedAt.getTime();
    return isOlder ? null : verdict;
  }
}

/** Erases accounts without a proved address after the mail that warned them: src/areas/accounts/README.md#unproved-accounts. */
export function makePurgeUnprovedAccounts({
  purgeUnproved,
  unprovedAccountDays,
}: PurgeDeps): Reaction<UnprovedWarned> {
  return {
    name: 'purge-unproved-accounts',
    category: userCategory,
    codec: userCodec,
    types: ['UnprovedWarned'],
    hasTimers: true,
    asks: async (event) => {
      if (event.data.outcome !== 'accepted') return 'no';
      return asked(await purgeUnproved.judge(streamIdOf(event), unprovedAccountDays), 'erase');
    },
    conclude: (event, context) => purgeUnproved.purge(streamIdOf(event), unprovedAccountDays, context),
  };
}

function asked(verdict: Awaited<ReturnType<PurgeUnproved['judge']>>, step: 'warn' | 'erase'): Asked {
  if (verdict === null) return 'no';
  if ('notBefore' in verdict) return verdict;
  return verdict.step === step ? 'yes' : 'no';
}
