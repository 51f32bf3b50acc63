import type { Role } from '../../domain/role.js';
import { html } from './html.js';
import { at, page, paragraphs } from './layout.js';
import { onOneLine } from './mailbox.js';
import type { MailMessage } from './mailer.js';

/** Marks that change the direction of what follows them: a name could rearrange the sentence around it. */
const bidiMarks = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;
/** Where mail programs find links in plain text; a word joiner there is not seen and ends the link. */
const linkJoints = /[.:/@]/g;
const wordJoiner = '\u2060';

/** The code that signs in. In the text it is the only run of six digits, for programs that look for one. */
export function loginCodeMessage(data: {
  /** Six digits. */
  readonly code: string;
  readonly expiresAt: Date;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Your sign-in code';
  const why = `Somebody, probably you, wants to sign in to Stowage${at(data.publicUrl)}.`;
  const lead = 'The code is';
  const ignore =
    'If it was not you, ignore this mail. Tell the code to nobody: whoever has it can sign in as you.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

/** The code that confirms a new address of an account. */
export function addressChangeMessage(data: {
  /** Six digits. */
  readonly code: string;
  readonly expiresAt: Date;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Confirm your new address';
  const why = `An account of Stowage${at(data.publicUrl)} is to use this address from now on.`;
  const lead = 'The code that confirms it is';
  const ignore = 'If the account is not yours, ignore this mail; nothing changes then.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

/** An invitation to a project. `projectName` and `inviter` are whatever people have typed. */
export function invitationMessage(data: {
  readonly projectName: string;
  /** Empty when nobody knows any more. */
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
  const valid = `It is valid until ${data.expiresAt.toISOString().slice(11, 16)} UTC and works once.`;
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

/** A name as people gave it: on one line, in one direction, and nothing in it becomes a link. */
function asGiven(name: string): string {
  return onOneLine(name).replace(bidiMarks, '').replace(linkJoints, `$&${wordJoiner}`);
}
