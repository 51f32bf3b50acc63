import { asGiven, asQuoted, atSite, paragraphs } from '../../../../mail/layout.js';
import type { MailContent } from '../../../../mail/mailer.js';

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
