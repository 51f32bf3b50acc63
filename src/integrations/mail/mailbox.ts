/** Whom mail is from or to. `name` may be empty. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** A dot-string or its like before the `@`, a host name after it: whatever else an address may be, it stays in one header and one command. */
const addressPattern = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"]+$/u;
const mailboxPattern = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/;

/** Whether the address can stand in a header and in a command of SMTP without saying anything else there. */
export function isPlainAddress(address: string): boolean {
  return addressPattern.test(address) && Buffer.byteLength(address) <= 254;
}

/** Parses `address` or `Name <address>`, as `MAIL_FROM` is given. */
export function parseMailbox(text: string): Mailbox | null {
  const { name = '', address = text } = mailboxPattern.exec(text.trim())?.groups ?? {};
  const mailbox = { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() };
  return isPlainAddress(mailbox.address) && onOneLine(mailbox.name) === mailbox.name ? mailbox : null;
}

/** The text without control characters and line breaks of any kind: each run of them is one space. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ');
}

/** A text for a header: on one line, and with nothing in it that a mail program would decode (RFC 2047) into something else. */
export function asHeader(text: string): string {
  return onOneLine(text).replaceAll('=?', '=\u2060?');
}
