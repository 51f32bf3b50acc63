import { atSite, html, page, paragraphs } from '../../../mail/layout.js';
import type { MailMessage } from '../../../mail/mailer.js';

/** Writes the mail with a sign-in code, the only run of six digits in the text, because programs search for one. */
export function loginCodeMessage(data: {
  readonly code: string;
  readonly expires_at: string;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Your sign-in code';
  const why = `Someone, probably you, wants to sign in to Stowage${atSite(data.publicUrl)}.`;
  const lead = 'The code is';
  const ignore =
    'If it was not you, ignore this mail. Tell the code to no one: a person who has it can sign in as you.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

/** Writes the mail with the code that proves the address of a new account. It contains no text of the account. */
export function emailVerificationMessage(data: {
  readonly code: string;
  readonly expires_at: string;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Confirm your address';
  const why = `Someone, probably you, has registered an account of Stowage${atSite(data.publicUrl)} with this address.`;
  const lead = 'The code that confirms the address is';
  const ignore =
    'If it was not you, ignore this mail, and tell the code to no one: a person who has it could use your address.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

/** Writes the mail that warns of the erasure of an account whose address is not proved. */
export function erasureWarningMessage({ publicUrl }: { readonly publicUrl: string }): MailMessage {
  const subject = 'Your account will be deleted';
  const why = `An account of Stowage${atSite(publicUrl)} was registered with this address, and the address is not confirmed. The account and its projects will be deleted in seven days or later.`;
  const how =
    'To keep it, sign in and confirm the address by a code (POST /api/v1/auth/email/verify/send and POST /api/v1/auth/email/verify):';
  const ignore = 'If you do not know this account, ignore this mail.';
  return {
    subject,
    text: paragraphs(why, `${how}\n${publicUrl}`, ignore),
    html: page(
      subject,
      html`<p>${why}</p>
        <p>${how} <a href="${publicUrl}">${publicUrl}</a></p>
        <p>${ignore}</p>`,
    ),
  };
}

export function addressChangeMessage(data: {
  readonly code: string;
  readonly expires_at: string;
  readonly publicUrl: string;
}): MailMessage {
  const subject = 'Confirm your new address';
  const why = `An account of Stowage${atSite(data.publicUrl)} is to use this address from now on.`;
  const lead = 'The code that confirms it is';
  const ignore = 'If the account is not yours, ignore this mail; nothing changes then.';
  return codeMessage({ subject, why, lead, ignore, ...data });
}

function codeMessage(data: {
  readonly subject: string;
  readonly why: string;
  readonly lead: string;
  readonly ignore: string;
  readonly code: string;
  readonly expires_at: string;
}): MailMessage {
  const { subject, why, lead, ignore, code } = data;
  const until = data.expires_at;
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
