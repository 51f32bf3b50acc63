import type { Role } from '../../domain/role.js';
import { html } from './html.js';
import { atSite, page, paragraphs } from './layout.js';
import { onOneLine } from './mailbox.js';
import type { MailMessage } from './mailer.js';

/** Marks that change the direction of the text after them. A name with one could rearrange the sentence around it. */
const bidiMarks = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
/** Mail programs recognise links by these characters. An invisible word joiner after one ends the link. */
const linkJoints = /[.:/@]/g;
const wordJoiner = '\u2060';

/** Writes the mail with a sign-in code, the only run of six digits in the text, because programs search for one. */
export function loginCodeMessage(data: {
  readonly code: string;
  readonly expiresAt: Date;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Your sign-in code';
  const why = `Somebody, probably you, wants to sign in to Stowage${atSite(data.publicUrl)}.`;
  const lead = 'The code is';
  const ignore =
    'If it was not you, ignore this mail. Tell the code to nobody: whoever has it can sign in as you.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

/** Writes the mail with the code that proves the address of a new account. It contains no text of the account. */
export function emailVerificationMessage(data: {
  readonly code: string;
  readonly expiresAt: Date;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Confirm your address';
  const why = `Somebody, probably you, has registered an account of Stowage${atSite(data.publicUrl)} with this address.`;
  const lead = 'The code that confirms the address is';
  const ignore =
    'If it was not you, ignore this mail, and tell the code to nobody: whoever has it could use your address.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

export function addressChangeMessage(data: {
  readonly code: string;
  readonly expiresAt: Date;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Confirm your new address';
  const why = `An account of Stowage${atSite(data.publicUrl)} is to use this address from now on.`;
  const lead = 'The code that confirms it is';
  const ignore = 'If the account is not yours, ignore this mail; nothing changes then.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

/** Writes an invitation to a project. `projectName` and `inviter` are unchecked texts that users have typed. */
export function invitationMessage(data: {
  readonly projectName: string;
  /** Empty if the name is unknown. */
  readonly inviter: string;
  readonly role: Role;
  readonly publicUrl: string;
}): MailMessage {
  const { role, publicUrl } = data;
  const project = asGiven(data.projectName);
  const inviter = data.inviter === '' ? 'A member' : asGiven(data.inviter);
  const subject = `Invitation to the project ${project}`;
  const invites = `${inviter} invites you to the project "${project}" on Stowage, as ${role}.`;
  const how = 'To accept, register or sign in with this address and verify it:';
  const ignore = 'If you do not know what this is about, ignore this mail.';
  return {
    subject,
    text: paragraphs(invites, `${how}\n${publicUrl}`, ignore),
    html: page(
      subject,
      html`<p>${invites}</p>
        <p>${how} <a href="${publicUrl}">${publicUrl}</a></p>
        <p>${ignore}</p>`,
    ),
  };
}

function codeMessage(data: {
  readonly subject: string;
  readonly why: string;
  readonly lead: string;
  readonly ignore: string;
  readonly code: string;
  readonly expiresAt: Date;
}): MailMessage {
  const { subject, why, lead, ignore, code } = data;
  const until = data.expiresAt.toISOString();
  const valid = `It is valid until ${until.slice(0, 10)} ${until.slice(11, 16)} UTC and works once.`;
  return {
    subject,
    text: paragraphs(why, `${lead} ${code}`, valid, ignore),
    html: page(
      subject,
      html`<p>${why}</p>
        <p>${lead} <strong style="font-size: 150%; letter-spacing: 0.1em">${code}</strong></p>
        <p>${valid}</p>
        <p>${ignore}</p>`,
    ),
  };
}

/** Returns a user's text on one line, in one direction, and with no part that becomes a link. */
function asGiven(name: string): string {
  return onOneLine(name).replace(bidiMarks, '').replace(linkJoints, `$&${wordJoiner}`);
}
