import { atSite, html } from '../../../mail/layout.js';
import type { MailMessage } from '../../../mail/mailer.js';
import type { SecurityNoticeKind } from '../../../validation/fields.js';
import { letter, linked } from './letter.js';

interface Notice {
  readonly subject: string;
  /** The event as a clause of a sentence. */
  readonly happened: (account: string) => string;
  readonly meaning: string;
  /** Follows "If it was not you". */
  readonly advice: string;
}

const tellOperator = 'tell those who run the service at once';

const notices: Readonly<Record<SecurityNoticeKind, Notice>> = {
  password_changed: {
    subject: 'Your password was changed',
    happened: (account) => `the password of ${account} was changed`,
    meaning: 'All sessions but the one that changed it have ended.',
    advice:
      'sign in with a code that is mailed to this address, choose another password, and look through your sessions. ' +
      `If you cannot, ${tellOperator}.`,
  },
  email_changed: {
    subject: 'The address of your account was changed',
    happened: (account) => `${account} was moved to another address`,
    meaning: 'This address signs in to it no more.',
    advice: `${tellOperator}: you cannot take it back yourself.`,
  },
  email_change_reverted: {
    subject: 'A change of address was undone',
    happened: (account) => `${account} went back to the address that it had before`,
    meaning: 'This address signs in to it no more, and all sessions have ended.',
    advice: `${tellOperator}.`,
  },
  two_factor_on: {
    subject: 'Two-factor authentication was switched on',
    happened: (account) => `two-factor authentication of ${account} was switched on`,
    meaning: 'From now on, signing in needs a code of an authenticator app, or a recovery code.',
    advice: `someone else can sign in as you, and may lock you out: ${tellOperator}.`,
  },
  two_factor_off: {
    subject: 'Two-factor authentication was switched off',
    happened: (account) => `two-factor authentication of ${account} was switched off`,
    meaning: 'Signing in needs no code of your authenticator app any more, and the recovery codes are void.',
    advice:
      'choose another password, which ends all other sessions, and switch two-factor authentication on again. ' +
      `If you cannot, ${tellOperator}.`,
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    happened: (account) => `a recovery code of ${account} was used`,
    meaning: 'That code works no more.',
    advice:
      'someone else has your recovery codes: choose another password, and have new recovery codes issued. ' +
      `If you cannot, ${tellOperator}.`,
  },
  account_guessed_at: {
    subject: 'Someone is guessing at your account',
    happened: (account) => `wrong passwords or codes for ${account} reached the limit of a day`,
    meaning:
      'For up to a day, no more of them are checked. Devices that you signed in from in the last 90 days have a ' +
      'separate limit, so you can sign in from there. From another device, sign in with a code that is mailed to you.',
    advice:
      'no attempt succeeded. Choose another password if yours is short, or if you use it elsewhere too, and consider ' +
      'two-factor authentication.',
  },
  share_guessed_at: {
    subject: 'Someone is guessing at the password of a share',
    happened: (account) => `wrong passwords for a share of ${account} reached the limit of a day`,
    meaning:
      'For up to a day, the share opens only for visitors who opened it before, with the right password. ' +
      'In the list of the shares of your project, it is the one with the newest time of throttling.',
    advice:
      'no attempt succeeded. Give the share a longer password, which opens it again at once, or make a new link for ' +
      'those who wait and revoke this one.',
  },
  share_opened: {
    subject: 'A share was opened for the first time',
    happened: (account) => `a share of ${account} was opened for the first time`,
    meaning:
      'Further openings of this share cause no mail. The shares of your project show how often each was opened. To get ' +
      'no such mail about a share, set its field notify_sharer to false.',
    advice: 'a person who has its link opened it. If you do not want that, revoke the share.',
  },
  recovery_codes_replaced: {
    subject: 'New recovery codes were issued',
    happened: (account) => `new recovery codes of ${account} were issued`,
    meaning: 'All earlier ones are void.',
    advice:
      'someone else can sign in as you: choose another password, and have new recovery codes issued. ' +
      `If you cannot, ${tellOperator}.`,
  },
  account_reclaimed: {
    subject: 'What others may have set up in your account is void',
    happened: (account) =>
      `the address of ${account} was proved for the first time, by a sign-in with a mailed code. What was set up ` +
      'before may be the work of a stranger who registered this address',
    meaning:
      'The password, the sessions, the second factor and the passkeys of before are void. The API keys that the account ' +
      'had issued are revoked, its open invitations are withdrawn, and the members that it had added to projects are ' +
      'removed. The projects, storages, shares and orders of the account stay: look through them, and delete what is ' +
      'not yours. Set a new password within 15 minutes of the sign-in, or sign in by another code for it.',
    advice: `someone else reads the mails to this address. Secure your mailbox, and ${tellOperator}.`,
  },
  passkey_added: {
    subject: 'A passkey was added to your account',
    happened: (account) => `a passkey was added to ${account}`,
    meaning: 'A person who holds it can sign in to the account.',
    advice: `remove it from your passkeys, and choose another password. If you cannot, ${tellOperator}.`,
  },
  passkey_removed: {
    subject: 'A passkey of your account was removed',
    happened: (account) => `a passkey was removed from ${account}`,
    meaning: 'It signs in to the account no more.',
    advice:
      'someone else can sign in as you: choose another password, which ends all other sessions, and look through your ' +
      `passkeys. If you cannot, ${tellOperator}.`,
  },
  passkey_refused: {
    subject: 'A sign-in with one of your passkeys was refused',
    happened: (account) => `a sign-in to ${account} with one of its passkeys was refused`,
    meaning: 'The passkey counted its uses backwards, so there may be a copy of it.',
    advice: `remove the passkey that was used last from your passkeys, and choose another password. If you cannot, ${tellOperator}.`,
  },
};

const codesStay =
  'Signing in needs no code of your authenticator app any more. Your passkeys and the recovery codes stay valid.';

/** The code that puts a former address back, and its end. */
export type AddressRevert = { readonly code: string; readonly until: Date };

/**
 * Writes a security notice. It contains no other address and no run of six digits.
 * @param data.revert the code of a changed address; null: none, and an operator has to help
 * @param data.keepsCodes the app was removed beside a passkey, so the recovery codes stay
 */
export function securityNoticeMessage(data: {
  readonly kind: SecurityNoticeKind;
  readonly at: Date;
  readonly publicUrl: string;
  readonly revert?: AddressRevert | null;
  readonly keepsCodes?: boolean;
}): MailMessage {
  const { subject, happened, meaning: usual, advice: alone } = notices[data.kind];
  const meaning = data.keepsCodes === true ? codesStay : usual;
  const advice = data.revert ? revertAdvice(data.revert) : alone;
  const moment = data.at.toISOString();
  const when = `On ${moment.slice(0, 10)} at ${moment.slice(11, 16)} UTC`;
  const account = `your account of Stowage${atSite(data.publicUrl)}`;
  const what = `${when}, ${happened(account)}. ${meaning}`;
  const you = 'If it was you, there is nothing to do.';
  const advised = `If it was not you, ${advice}`;
  return letter(subject, what, you, advised);
}

function revertAdvice({ code, until }: AddressRevert): string {
  const end = until.toISOString();
  return (
    `take the account back with this address and the code ${code}. The code is valid until ${end.slice(0, 10)} at ` +
    `${end.slice(11, 16)} UTC. It brings this address back and ends all sessions. Then sign in with a code that is ` +
    `mailed to this address, and choose another password. If you cannot, ${tellOperator}. ` +
    'Tell the code to no one: a person who has it can undo the change.'
  );
}

interface MailedCode {
  readonly code: string;
  readonly expires_at: string;
  readonly publicUrl: string;
}

interface CodeText {
  readonly subject: string;
  /** Why the mail comes; gets the place of the service. */
  readonly why: (site: string) => string;
  /** Precedes the code. */
  readonly lead: string;
  readonly ignore: string;
}

/** Writes the mail with a sign-in code, the only run of six digits in the text, because programs search for one. */
export const loginCodeMessage = codeMessage({
  subject: 'Your sign-in code',
  why: (site) => `Someone, probably you, wants to sign in to Stowage${site}.`,
  lead: 'The code is',
  ignore:
    'If it was not you, ignore this mail. Tell the code to no one: a person who has it can sign in as you.',
});

/** Writes the mail with the code that proves the address of a new account. It contains no text of the account. */
export const emailVerificationMessage = codeMessage({
  subject: 'Confirm your address',
  why: (site) => `Someone, probably you, has registered an account of Stowage${site} with this address.`,
  lead: 'The code that confirms the address is',
  ignore:
    'If it was not you, ignore this mail, and tell the code to no one: a person who has it could use your address.',
});

export const addressChangeMessage = codeMessage({
  subject: 'Confirm your new address',
  why: (site) => `An account of Stowage${site} is to use this address from now on.`,
  lead: 'The code that confirms it is',
  ignore: 'If the account is not yours, ignore this mail; nothing changes then.',
});

/** Writes the mail that warns of the erasure of an account whose address is not proved. */
export function erasureWarningMessage({ publicUrl }: { readonly publicUrl: string }): MailMessage {
  const subject = 'Your account will be deleted';
  const why = `An account of Stowage${atSite(publicUrl)} was registered with this address, and the address is not confirmed. The account and its projects will be deleted in seven days or later.`;
  const how =
    'To keep it, sign in and confirm the address by a code (POST /api/v1/auth/email/verify/send and POST /api/v1/auth/email/verify):';
  const ignore = 'If you do not know this account, ignore this mail.';
  return letter(subject, why, linked(how, publicUrl), ignore);
}

function codeMessage({ subject, why: whyAt, lead, ignore }: CodeText) {
  return ({ code, expires_at: until, publicUrl }: MailedCode): MailMessage => {
    const why = whyAt(atSite(publicUrl));
    const valid = `It is valid until ${until.slice(0, 10)} ${until.slice(11, 16)} UTC and works once.`;
    const shown = {
      text: `${lead} ${code}`,
      html: html`<p>${lead} <strong style="font-size: 150%; letter-spacing: 0.1em">${code}</strong></p>`,
    };
    return letter(subject, why, shown, valid, ignore);
  };
}
