import { asGiven, asQuoted, atSite, paragraphs } from '../../../../mail/layout.js';
import type { MailContent } from '../../../../mail/mailer.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { roleIn } from '../../../projects/domain/project/fold.js';
import type { OpenShare } from '../../domain/share/share.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { ShareDeps } from '../../deps.js';

/** The user who gets mails about a share. */
interface ShareRecipient {
  readonly userId: string;
  /** The address. */
  readonly to: string;
}

/**
 * Finds the user who gets the mails about a share: the sharer, or the first owner of the project where an API key made the
 * share or the sharer has left. Null where the address is not proved, because a stranger may have registered it.
 * @throws StoreUnavailable; errors of `Sealer.open`
 */
export function makeFindShareRecipient({ handler, sealer }: Pick<ShareDeps, 'handler' | 'sealer'>) {
  return async (input: Pick<OpenShare, 'project_id' | 'created_by'>): Promise<ShareRecipient | null> => {
    const { project_id, created_by } = input;
    const { state: project } = await handler.load(projectAggregate, project_id);
    if (project.status !== 'existing') return null;
    const isMember = created_by !== null && roleIn(project, created_by) !== null;
    const userId = isMember ? created_by : project.members.find(({ role }) => role === 'owner')?.user_id;
    if (userId === undefined) return null;
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || !user.email_verified) return null;
    const to = await sealer.open({ kind: 'person', userId }, 'email', user.email);
    return to === erased ? null : { userId, to };
  };
}

/**
 * Writes the mail with the link of a share, as plain text. It contains no password. Users have typed `projectName`, `sender`
 * and `message`, none of which becomes a link.
 */
export function shareLinkMessage(data: {
  readonly url: string;
  readonly projectName: string;
  /** The nickname of the member who sends it; empty if it is unknown. */
  readonly sender: string;
  readonly message: string | null;
  /** Null: the share has no end. */
  readonly expiresAt: Date | null;
  readonly passwordRequired: boolean;
  readonly publicUrl: string;
}): MailContent {
  const { url, expiresAt, message } = data;
  const sender = data.sender === '' ? 'A member' : asGiven(data.sender);
  const what = `${sender} shares files of the project "${asGiven(data.projectName)}" with you:\n${url}`;
  const moment = expiresAt?.toISOString();
  const until =
    moment === undefined ? [] : [`The link opens until ${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC.`];
  const password = data.passwordRequired ? ['The link needs a password, which the sender gives you.'] : [];
  const terms = [...until, ...password].join(' ');
  const why =
    `A member of the project entered your address on Stowage${atSite(data.publicUrl)}. ` +
    'If you do not know what this is about, ignore this mail.';
  return {
    subject: 'Files are shared with you',
    text: paragraphs(
      what,
      ...(terms === '' ? [] : [terms]),
      ...(message === null ? [] : [`The sender writes:\n${asQuoted(message)}`]),
      why,
    ),
    html: null,
  };
}
