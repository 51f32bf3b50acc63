/** The sender or the recipient of a mail. `name` may be empty. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

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
