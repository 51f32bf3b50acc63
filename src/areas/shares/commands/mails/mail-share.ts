import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { invalid } from '../../../../validation/field-problems.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { rejectProject } from '../../../projects/domain/project/rejections.js';
import { isProtected, isUsable, openShare, shareAggregate } from '../../domain/share/share.js';
import { rejectShare } from '../../domain/share/rejections.js';
import type { ShareMailEvent } from '../../domain/share-mail/events.js';
import {
  allMailed,
  checkShareMailMessage,
  shareMailAggregate,
  shareMailLifetimeMs,
} from '../../domain/share-mail/share-mail.js';
import { KeyDestroyed } from '../../../../keys/sealing/errors.js';
import { type EmailAddress, parseEmailAddress } from '../../../../validation/email-address.js';
import { type ActingSession, makeRequireProved } from '../../../projects/commands/require-proved.js';
import { TooManyAttempts, rejectUseCase } from '../../../shared/rejections.js';
import type { ShareAddress } from '../sharing.js';
import type { Visits } from '../visiting/visits.js';
import { makeSharedRateLimiter } from '../../../../security/rates/shared-rate-limit.js';
import { roleIn } from '../../../projects/domain/project/fold.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import { type ReactionEvent, on } from '../../../../event-sourcing/effects/reaction.js';
import { shareLinkMessage } from './share-messages.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';

// Routes import from commands, and not from the domain.
export { shareMailAddressesMax } from '../../domain/share-mail/events.js';

/**
 * Destroys the key of the addresses and of the message of a request when all its mails have gone, and at the latest when
 * they are not sent any more.
 */
export function makeForgetShareMails(deps: Pick<ShareDeps, 'handler' | 'sealer' | 'clock'>) {
  const { handler, sealer, clock } = deps;
  return on(shareMailAggregate, ['ShareMailRequested', 'ShareMailed'], {
    name: 'forget-share-mails',
    hasTimers: true,
    // Destroying a key again costs no more than to read whether it exists.
    isDue: async (id, event) => {
      const { state } = await handler.load(shareMailAggregate, id);
      if (event.type === 'ShareMailed') return allMailed(state);
      // One event of a request is enough, and `ShareMailed` has destroyed the key of a request that is done.
      if (event.data.number > 0 || allMailed(state)) return false;
      const endsAt = new Date(event.recordedAt.getTime() + shareMailLifetimeMs);
      return clock.now() < endsAt ? { notBefore: endsAt } : true;
    },
    run: async (mailId) => {
      const { state } = await handler.load(shareMailAggregate, mailId);
      if (state.status === 'absent') return;
      await sealer.destroy({ kind: 'share-mail', projectId: state.projectId, mailId });
    },
  });
}

type Requested = Extract<ShareMailEvent, { type: 'ShareMailRequested' }>;

/**
 * Mails the link of a share to one address, once. It mails nothing when the share does not open any more, its project is
 * deleted, the sender has left the project, or after a day.
 */
export function makeMailShareLinks(
  deps: MailDeps &
    Pick<ShareDeps, 'handler' | 'sealer' | 'shares' | 'users' | 'clock'> &
    Pick<Visits, 'findSharedAssets'>,
) {
  const { handler, sealer, shares, users, clock, publicUrl, findSharedAssets } = deps;
  return makeMailReaction(deps, shareMailAggregate, ['ShareMailRequested'], {
    name: 'mail-share-links',
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + shareMailLifetimeMs),
    prepare: async (id, event) => {
      const { state: mail } = await handler.load(shareMailAggregate, id);
      if (mail.status === 'absent' || mail.mailed.has(event.data.number)) return null;
      const [texts, about] = await Promise.all([openTexts(event), openLink(event)]);
      if (texts === null || about === null) return null;
      const sender = (await users.find(event.data.sent_by))?.resource.nickname ?? '';
      const { to, message } = texts;
      return { to, ...shareLinkMessage({ ...about, sender, message, publicUrl }) };
    },
    record: (id, { data: { number } }, outcome, context) =>
      handler.handle(shareMailAggregate.at(id), { type: 'MarkMailed', number, outcome }, context),
  });

  /** Returns null where the key is destroyed. */
  async function openTexts(event: ReactionEvent<Requested>) {
    const { project_id: projectId, ...sealed } = event.data;
    const scope = { kind: 'share-mail', projectId, mailId: streamIdOf(event) } as const;
    const [to, message] = await Promise.all([
      sealer.open(scope, 'to', sealed.to),
      sealed.message === null ? null : sealer.open(scope, 'message', sealed.message),
    ]);
    return to === erased || message === erased ? null : { to, message };
  }

  /** Returns null where the link is not to be mailed any more. */
  async function openLink({ data }: ReactionEvent<Requested>) {
    const { state: share } = await handler.load(shareAggregate, data.share_id);
    if (share.status !== 'open' || !isUsable(share, clock.now())) return null;
    const { project } = (await findSharedAssets(share)) ?? {};
    if (project === undefined || roleIn(project, data.sent_by) === null) return null;
    const found = await shares.find(data.project_id, data.share_id);
    // The stream has the share, so the view is behind: the mail waits, and is not lost.
    if (found === null) throw new StoreUnavailable('the view does not have the share yet');
    const { url, expires_at } = found.resource;
    const expiresAt = expires_at === null ? null : new Date(expires_at);
    return { url, projectName: project.name, expiresAt, passwordRequired: isProtected(share) };
  }
}

const tooMany: Readonly<Record<keyof ShareDeps['shareMailLimits'], string>> = {
  share_mail_project: 'the project has mailed links to too many addresses; wait and try again',
  share_mail_sender: 'you have mailed links to too many addresses; wait and try again',
  share_mail_address: 'links have been mailed to one of the addresses too often; wait and try again',
};

interface MailShareInput extends ShareAddress {
  /** 1 to `shareMailAddressesMax`. */
  readonly to: readonly string[];
  /** Null or blank: none. */
  readonly message: string | null;
  /** The user who sends, or the API key, whose issuer then counts as the sender. */
  readonly sender: { readonly actorId: string; readonly session: ActingSession } | { readonly keyId: string };
}

/** Checks what needs no store. @throws CommandRejected invalid_request */
export function checkShareMail({ to, message }: Pick<MailShareInput, 'to' | 'message'>) {
  const addresses = to.map(
    (text, index) =>
      parseEmailAddress(text) ?? invalid(`to.${index}`, 'must be an e-mail address such as name@example.com'),
  );
  if (new Set(addresses.map(({ canonical }) => canonical)).size < addresses.length)
    invalid('to', 'must be distinct', 'repeated');
  return { addresses, message: checkShareMailMessage(message) };
}

/**
 * Mails the link of a share that opens for visitors (src/areas/shares/README.md#mails-with-the-link). It asks for no account, so known
 * and unknown addresses make the same store calls. A repeated command mails nothing more.
 * @returns the number of addresses
 * @throws CommandRejected invalid_request, share_not_found, share_not_open, mail_not_configured, email_not_verified,
 * api_key_not_found; TooManyAttempts; StoreUnavailable
 */
export function makeMailShare(deps: ShareDeps & Pick<Visits, 'findSharedAssets'>) {
  const { handler, sealer, digests, clock, mailConfigured, findSharedAssets } = deps;
  const requireProved = makeRequireProved(deps);
  const limiter = makeSharedRateLimiter({ ...deps, limits: deps.shareMailLimits });
  return async (input: MailShareInput, context: CommandContext) => {
    const { projectId, shareId } = input;
    const { addresses, message } = checkShareMail(input);
    const mailId = derivedId(context, 'share-mail');
    await requireOpen({ projectId, shareId });
    if (!mailConfigured) rejectUseCase('mail_not_configured', 'no mail service is set up');
    const sentBy = await senderOf(input);
    await requireProved({
      actorId: sentBy,
      session: 'session' in input.sender ? input.sender.session : null,
    });
    const { state } = await handler.load(shareMailAggregate, mailId);
    // A repetition mails nothing, so it does not count.
    if (state.status === 'requested') return addresses.length;
    const emailDigests = addresses.map(({ canonical }) => digests.email(canonical));
    await count({ projectId, sentBy, emailDigests });
    const sealed = await sealMails({ projectId, mailId }, addresses, message);
    if (sealed === null) return addresses.length;
    const command = { type: 'Request', projectId, shareId, sentBy, ...sealed } as const;
    await handler.handle(shareMailAggregate.at(mailId), command, context);
    return addresses.length;
  };

  /**
   * Limits the mails, so that no member makes the service send unwanted mail in numbers. Addresses count under their keyed digests,
   * in all processes. @throws TooManyAttempts; StoreUnavailable; Overloaded
   */
  async function count(mail: {
    readonly projectId: string;
    readonly sentBy: string;
    readonly emailDigests: readonly string[];
  }): Promise<void> {
    const { projectId, sentBy, emailDigests } = mail;
    const times = emailDigests.length;
    const verdict = await limiter.take([
      { name: 'share_mail_project', key: projectId, times },
      { name: 'share_mail_sender', key: sentBy, times },
      ...emailDigests.map((key) => ({ name: 'share_mail_address', key }) as const),
    ]);
    if (!verdict.allowed) throw new TooManyAttempts(verdict.retryAfterSeconds, tooMany[verdict.name]);
  }

  async function requireOpen({ projectId, shareId }: ShareAddress): Promise<void> {
    const share = openShare((await handler.load(shareAggregate, shareId)).state, projectId);
    if (isUsable(share, clock.now()) && (await findSharedAssets(share)) !== null) return;
    rejectShare('share_not_open', 'the share does not open for visitors; its fields say why');
  }

  async function senderOf({ projectId, sender }: MailShareInput): Promise<string> {
    if ('actorId' in sender) return sender.actorId;
    const { state } = await handler.load(projectAggregate, projectId);
    const keys = state.status === 'existing' ? state.api_keys : [];
    const key = keys.find(({ id }) => id === sender.keyId);
    return key?.issued_by ?? rejectProject('api_key_not_found', 'there is no such API key');
  }

  /** Returns null where a repetition of the command finds that the mails have gone. */
  async function sealMails(
    mail: { readonly projectId: string; readonly mailId: string },
    addresses: readonly EmailAddress[],
    message: string | null,
  ) {
    const scope = { kind: 'share-mail', ...mail } as const;
    try {
      return {
        to: await Promise.all(addresses.map(({ address }) => sealer.seal(scope, 'to', address))),
        message: message === null ? null : await sealer.seal(scope, 'message', message),
      };
    } catch (error) {
      if (error instanceof KeyDestroyed) return null;
      throw error;
    }
  }
}
