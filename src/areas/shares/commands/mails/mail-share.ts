import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { rejectProject } from '../../../projects/domain/project/rejections.js';
import { isUsable, openShare, shareAggregate } from '../../domain/share/share.js';
import { rejectShare } from '../../domain/share/rejections.js';
import { shareMailAddressesMax } from '../../domain/share-mail/events.js';
import { checkShareMailMessage, shareMailAggregate } from '../../domain/share-mail/share-mail.js';
import { KeyDestroyed } from '../../../../keys/sealing/errors.js';
import { type EmailAddress, parseEmailAddress } from '../../../../validation/email-address.js';
import type { ActingSession, RequireProved } from '../../../projects/commands/require-proved.js';
import { TooManyAttempts, rejectUseCase } from '../../../shared/rejections.js';
import type { ShareAddress } from '../sharing.js';
import type { Visits } from '../visiting/visits.js';
import type { SharedClaim, SharedRateLimiter } from '../../../../security/rates/shared-rate-limit.js';

type ShareMailLimitName = 'share_mail_project' | 'share_mail_sender' | 'share_mail_address';

/**
 * Limits the mails with links of shares, so that no member makes the service send unwanted mail in numbers. Addresses count
 * under their keyed digests, in all processes.
 * @throws TooManyAttempts; StoreUnavailable; Overloaded
 */
type CountShareMails = (request: {
  readonly projectId: string;
  readonly sentBy: string;
  readonly emailDigests: readonly string[];
}) => Promise<void>;

const tooMany: Readonly<Record<ShareMailLimitName, string>> = {
  share_mail_project: 'the project has mailed links to too many addresses; wait and try again',
  share_mail_sender: 'you have mailed links to too many addresses; wait and try again',
  share_mail_address: 'links have been mailed to one of the addresses too often; wait and try again',
};

export function makeCountShareMails({
  limiter,
}: {
  readonly limiter: SharedRateLimiter<ShareMailLimitName>;
}): CountShareMails {
  return async ({ projectId, sentBy, emailDigests }) => {
    const times = emailDigests.length;
    const claims: SharedClaim<ShareMailLimitName>[] = [
      { name: 'share_mail_project', key: projectId, times },
      { name: 'share_mail_sender', key: sentBy, times },
      ...emailDigests.map((key) => ({ name: 'share_mail_address', key }) as const),
    ];
    const verdict = await limiter.take(claims);
    if (!verdict.allowed) throw new TooManyAttempts(verdict.retryAfterSeconds, tooMany[verdict.name]);
  };
}

/** The fields with rules beyond their shape. */
export interface NewShareMail {
  readonly to: readonly string[];
  /** Null or blank: none. */
  readonly message: string | null;
}

export interface MailShareInput extends ShareAddress, NewShareMail {
  /** The user who sends, or the API key, whose issuer then counts as the sender. */
  readonly sender: { readonly actorId: string; readonly session: ActingSession } | { readonly keyId: string };
}

/**
 * Mails the link of a share that opens for visitors (src/areas/shares/README.md#mails-with-the-link). It asks for no account, so known
 * and unknown addresses make the same store calls. A repeated command mails nothing more.
 * @returns the number of addresses
 * @throws CommandRejected invalid_request, share_not_found, share_not_open, mail_not_configured, email_not_verified,
 * api_key_not_found; TooManyAttempts; StoreUnavailable
 */
export type MailShare = (input: MailShareInput, context: CommandContext) => Promise<number>;

/** Checks what needs no store. @throws CommandRejected invalid_request */
export function checkShareMail({ to, message }: NewShareMail): {
  readonly addresses: readonly EmailAddress[];
  readonly message: string | null;
} {
  if (to.length === 0 || to.length > shareMailAddressesMax)
    invalid(
      'to',
      `must have 1 to ${shareMailAddressesMax} entries`,
      to.length === 0 ? 'too_short' : 'too_long',
    );
  const addresses = to.map(
    (text, index) =>
      parseEmailAddress(text) ?? invalid(`to.${index}`, 'must be an e-mail address such as name@example.com'),
  );
  if (new Set(addresses.map(({ canonical }) => canonical)).size < addresses.length) {
    invalid('to', 'must be distinct', 'repeated');
  }
  return { addresses, message: checkShareMailMessage(message) };
}

export function makeMailShare({
  handler,
  sealer,
  digests,
  clock,
  mailConfigured,
  findSharedAssets,
  requireProved,
  countShareMails,
}: Pick<ShareDeps, 'handler' | 'sealer' | 'digests' | 'clock' | 'mailConfigured'> &
  Pick<Visits, 'findSharedAssets'> & {
    readonly requireProved: RequireProved;
    readonly countShareMails: CountShareMails;
  }): MailShare {
  return async (input, context) => {
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
    await countShareMails({ projectId, sentBy, emailDigests });
    const sealed = await sealMails({ projectId, mailId }, addresses, message);
    if (sealed === null) return addresses.length;
    await handler.handle(
      { aggregate: shareMailAggregate, id: mailId },
      { type: 'Request', projectId, shareId, sentBy, ...sealed },
      context,
    );
    return addresses.length;
  };

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
