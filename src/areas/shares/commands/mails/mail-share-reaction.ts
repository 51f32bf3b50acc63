import { projectAggregate } from '../../../projects/domain/project/project.js';
import { roleIn } from '../../../projects/domain/project/fold.js';
import { isProtected, isUsable, shareAggregate } from '../../domain/share/share.js';
import { type ShareMailEvent, shareMailCategory, shareMailCodec } from '../../domain/share-mail/events.js';
import { allMailed, shareMailAggregate, shareMailLifetimeMs } from '../../domain/share-mail/share-mail.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';
import type { Reaction, ReactionEvent } from '../../../../event-sourcing/effects/reaction.js';
import { shareLinkMessage } from './share-messages.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { ShareDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';

/**
 * Destroys the key of the addresses and of the message of a request when all its mails have gone, and at the latest when
 * they are not sent any more.
 */
export function makeForgetShareMails({
  handler,
  sealer,
  clock,
}: Pick<ShareDeps, 'handler' | 'sealer' | 'clock'>): Reaction<ShareMailEvent> {
  return {
    name: 'forget-share-mails',
    category: shareMailCategory,
    codec: shareMailCodec,
    types: ['ShareMailRequested', 'ShareMailed'],
    hasTimers: true,
    // Destroying a key again costs no more than to read whether it exists.
    asks: async (event) => {
      const { state } = await handler.load(shareMailAggregate, streamIdOf(event));
      if (event.type === 'ShareMailed') return allMailed(state) ? 'yes' : 'no';
      // One event of a request is enough, and `ShareMailed` has destroyed the key of a request that is done.
      if (event.data.number > 0 || allMailed(state)) return 'no';
      const endsAt = new Date(event.recordedAt.getTime() + shareMailLifetimeMs);
      return clock.now() < endsAt ? { notBefore: endsAt } : 'yes';
    },
    conclude: async (event) => {
      const mailId = streamIdOf(event);
      const { state } = await handler.load(shareMailAggregate, mailId);
      if (state.status === 'absent') return;
      await sealer.destroy({ kind: 'share-mail', projectId: state.projectId, mailId });
    },
  };
}

type Requested = Extract<ShareMailEvent, { type: 'ShareMailRequested' }>;

/**
 * Mails the link of a share to one address, once. It mails nothing when the share does not open any more, its project is
 * deleted, the sender has left the project, or after a day.
 */
export function makeMailShareLinks(
  deps: MailDeps & Pick<ShareDeps, 'handler' | 'sealer' | 'shares' | 'users' | 'clock'>,
): Reaction<Requested> {
  const { handler, sealer, shares, users, clock, publicUrl } = deps;
  return makeMailReaction<Requested>(deps, {
    name: 'mail-share-links',
    category: shareMailCategory,
    codec: shareMailCodec,
    types: ['ShareMailRequested'],
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + shareMailLifetimeMs),
    prepare: async (event) => {
      const { state: mail } = await handler.load(shareMailAggregate, streamIdOf(event));
      if (mail.status === 'absent' || mail.mailed.has(event.data.number)) return null;
      const [texts, about] = await Promise.all([openTexts(event), openLink(event)]);
      if (texts === null || about === null) return null;
      const sender = (await users.find(event.data.sent_by))?.resource.nickname ?? '';
      const { to, message } = texts;
      return { to, ...shareLinkMessage({ ...about, sender, message, publicUrl }) };
    },
    record: async (event, outcome, context) => {
      const target = { aggregate: shareMailAggregate, id: streamIdOf(event) };
      const { number } = event.data;
      await handler.handle(target, { type: 'MarkMailed', number, outcome }, context);
    },
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
    const [{ state: share }, { state: project }] = await Promise.all([
      handler.load(shareAggregate, data.share_id),
      handler.load(projectAggregate, data.project_id),
    ]);
    if (share.status !== 'open' || !isUsable(share, clock.now())) return null;
    if (project.status !== 'existing' || roleIn(project, data.sent_by) === null) return null;
    const found = await shares.find(data.project_id, data.share_id);
    if (found === null) return null;
    const { url, expires_at } = found.resource;
    const expiresAt = expires_at === null ? null : new Date(expires_at);
    return { url, projectName: project.name, expiresAt, passwordRequired: isProtected(share) };
  }
}
