/** The sender or the recipient of a mail. `name` may be empty. */
export type Mailbox = { readonly name: string; readonly address: string };

/** Without spaces, control characters and the specials of RFC 5322, so it cannot end its header or SMTP command. */
const addressPattern = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"]+$/u;
const mailboxPattern = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/;

/** Returns whether the address is safe in a header and in an SMTP command. */
export function isPlainAddress(address: string): boolean {
  return addressPattern.test(address) && Buffer.byteLength(address) <= 254;
}

/** Parses `address` or `Name <address>`, the form of `MAIL_FROM`. Returns null for any other text. */
export function parseMailbox(text: string): Mailbox | null {
  const { name = '', address = text } = mailboxPattern.exec(text.trim())?.groups ?? {};
  const mailbox = { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() };
  return isPlainAddress(mailbox.address) && onOneLine(mailbox.name) === mailbox.name ? mailbox : null;
}

export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ');
}

/** Makes a text safe for a header: on one line, without a part that a mail program would decode (RFC 2047). */
export function asHeader(text: string): string {
  return onOneLine(text).replaceAll('=?', '=\u2060?');
}

/** Not sent: the caller may retry soon. The message names no address and quotes no mail. */
export class MailNotSent extends Error {
  override readonly name = 'MailNotSent';
}

/** The server got the mail and gave no answer, so it may have accepted it: the caller retries rarely. */
export class MailUnknown extends Error {
  override readonly name = 'MailUnknown';
}

/** The mail server refused this mail for good, so a retry would fail too. The message names no address. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** The fields of a failure that nodemailer reports. Every other field may quote addresses or credentials. */
interface SmtpFailure {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
}

/** Commands whose refusal concerns this mail, and not this service, the connection or the sender. */
const aboutTheMail: readonly unknown[] = ['RCPT TO', 'DATA'];

/**
 * Classifies a failure by the command that the server answered (RFC 5321, section 4.2.1). A 5yz reply to the recipient
 * or the message is final, except 503, which concerns the session. A retry may cure all other failures.
 * @param isHandedOver whether the server has the whole content
 */
export function toMailError(error: unknown, isHandedOver: boolean): MailNotSent | MailRefused | MailUnknown {
  const failure: SmtpFailure = typeof error === 'object' && error !== null ? error : {};
  const { code, command, responseCode } = failure;
  if (typeof responseCode === 'number' && responseCode >= 400) {
    const message = `the mail server answered ${responseCode}${enhancedStatus(failure)} to ${wordOr(command, 'us')}`;
    const final = responseCode >= 500 && responseCode !== 503 && aboutTheMail.includes(command);
    return final ? new MailRefused(message) : new MailNotSent(message);
  }
  const reason = wordOr(code, 'the connection ended');
  return isHandedOver
    ? new MailUnknown(`the mail server did not say whether it accepted the mail: ${reason}`)
    : new MailNotSent(`the mail was not sent: ${reason}`);
}

/** Returns the enhanced status code (RFC 3463). It has digits and dots only, so it cannot quote personal data. */
function enhancedStatus({ response }: SmtpFailure): string {
  const status =
    typeof response === 'string' ? /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : undefined;
  return status === undefined ? '' : ` ${status}`;
}

function wordOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && /^[A-Z][A-Z0-9 _]{1,30}$/.test(value) ? value : otherwise;
}
