import { Readable } from 'node:stream';
import { domainToASCII } from 'node:url';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { rejectedBy } from '../kit/time/time-limit.js';
import type { SmtpServer } from './smtp-url.js';

export type LoggedMail = { readonly to: string; readonly subject: string; readonly text: string };

/**
 * Makes a mailer that hands each mail, with code and address, to a log. The configuration accepts it for a development
 * start only.
 */
export function makeLogMailer(write: (mail: LoggedMail) => void): Mailer {
  return {
    send: async ({ to: { address }, subject, text }, _, handOver) => {
      // The mailer that sends refuses such an address too.
      if (!isPlainAddress(address)) throw new MailRefused('the address is none that mail is sent to');
      await handOver();
      write({ to: address, subject, text });
    },
    lacksFor: () => Promise.resolve(false),
  };
}

export interface MailContent {
  readonly subject: string;
  readonly text: string;
  /** Null: the mail is plain text only. */
  readonly html: string | null;
}

export interface MailMessage extends MailContent {
  readonly html: string;
}

export interface OutgoingMail extends MailContent {
  /** The UUID of the request for the mail. The Message-ID contains it, so that servers recognise duplicates. */
  readonly id: string;
  readonly to: Mailbox;
}

/** How long the server may take, in milliseconds. */
export interface SmtpTimes {
  /** Until the connection is open. */
  readonly connectMs: number;
  /** From there to the greeting (RFC 5321, section 4.5.3.2.1); for STARTTLS as long again. */
  readonly greetingMs: number;
  /** For each later reply. The reply to the message may take longest (section 4.5.3.2.6). */
  readonly replyMs: number;
}

export interface Mailer {
  /**
   * Hands the mail to the server. When this resolves, the server has accepted it.
   * @param handOver runs when the server waits for the content. The content follows when it resolves, and never when it rejects
   * @throws MailNotSent; MailUnknown, when the server got the content and gave no answer; MailRefused: a retry is useless;
   * the error of `handOver`
   */
  send(mail: OutgoingMail, signal: AbortSignal, handOver: () => Promise<void>): Promise<void>;
  /**
   * Returns whether the server cannot take mail for the address, because it lacks SMTPUTF8 (RFC 6531). It asks a server that it
   * does not know yet, for 2 s at most, and returns false where that has no answer.
   */
  lacksFor(address: string): Promise<boolean>;
}

/** The wait of a request for what the server says in answer to EHLO. */
const askMs = 2_000;

/** Returns whether the address needs SMTPUTF8. Domains go in their ASCII form, so only the local part matters. */
function needsUtf8(address: string): boolean {
  return /\P{ASCII}/u.test(address.slice(0, address.lastIndexOf('@')));
}

/** Makes the mailer. Each mail has its own connection: mails are rare, and a slow one must not hold up another. */
export function makeMailer(deps: {
  readonly server: SmtpServer;
  readonly from: Mailbox;
  readonly times: SmtpTimes;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly trustedCertificates?: Buffer;
}): Mailer {
  const { server, from, times, trustedCertificates } = deps;
  const domain = domainToASCII(from.address.slice(from.address.lastIndexOf('@') + 1));
  const { host, port, secure, requireTls: requireTLS, credentials } = server;
  const options = {
    ...{ host, port, secure, requireTLS },
    // The library counts the greeting and STARTTLS into the first of these.
    connectionTimeout: times.connectMs + 2 * times.greetingMs,
    dnsTimeout: times.connectMs,
    greetingTimeout: times.greetingMs,
    socketTimeout: times.replyMs,
    socketCloseTimeout: 1_000,
    // The server must not learn the machine's name.
    name: domain,
    tls: {
      minVersion: 'TLSv1.2' as const,
      ...(trustedCertificates === undefined ? {} : { ca: trustedCertificates }),
    },
  };
  let lacksUtf8: boolean | null = null;
  return {
    send: async (mail, signal, handOver) => {
      if (!isPlainAddress(mail.to.address)) throw new MailRefused('the address is none that mail is sent to');
      const { envelope, content } = await compose(mail);
      const handing: { isDone: boolean; error: Error | null } = { isDone: false, error: null };
      // The library reads it when the server waits for the content. Its end sends the final dot.
      const message = Readable.from(
        (async function* () {
          await handOver().catch((error: unknown) => {
            handing.error = error instanceof Error ? error : new TypeError('no error was thrown');
            throw error;
          });
          yield content;
          handing.isDone = true;
        })(),
      );
      try {
        await converse(signal, async (smtp) => {
          if (lacksUtf8 === true && needsUtf8(mail.to.address))
            throw new MailRefused('the mail server lacks SMTPUTF8, which the address needs');
          // Also where the server offers none, because a relay refuses the mail of a stranger for good.
          if (credentials !== null) {
            const { user, password: pass } = credentials;
            await answered((done) => smtp.login({ user, pass }, done));
          }
          await answered((done) => smtp.send(envelope, message, done));
        });
      } catch (error) {
        if (error instanceof MailRefused) throw error;
        // Without its cause, which may quote the address, the credentials or the server's reply.
        throw handing.error ?? toMailError(error, handing.isDone);
      }
    },
    lacksFor: async (address) => {
      if (!needsUtf8(address)) return false;
      if (lacksUtf8 === null) {
        // Without an answer the mail server decides when it gets the mail.
        await converse(AbortSignal.timeout(askMs), () => Promise.resolve()).catch(() => undefined);
      }
      return lacksUtf8 === true;
    },
  };

  /** Opens a connection for the work, and closes it after it. Notes what the server can. */
  async function converse(signal: AbortSignal, work: (smtp: SMTPConnection) => Promise<void>): Promise<void> {
    signal.throwIfAborted();
    // The library loads with the first mail, because it would slow the start, and many services send no mail.
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const smtp = new Connection(options);
    let connecting: NodeJS.Timeout | undefined;
    const ended = new Promise<never>((_, reject) => {
      smtp.on('error', reject);
      connecting = setTimeout(() => {
        if (smtp.stage === 'init') reject(Object.assign(new Error(), { code: 'ETIMEDOUT' }));
      }, times.connectMs);
    });
    const working = answered((done) => smtp.connect(done)).then(() => {
      lacksUtf8 = !/^250[ -]SMTPUTF8\b/im.test(smtp.lastServerResponse || '');
      return work(smtp);
    });
    try {
      await Promise.race([ended, rejectedBy(signal), working]);
    } finally {
      clearTimeout(connecting);
      smtp.close();
    }
  }

  async function compose({ id, to, subject, text, html }: OutgoingMail) {
    const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
    const node = new MailComposer({
      // Objects, not strings: the library would parse addresses out of a name in a string.
      from: { name: asHeader(from.name), address: from.address },
      to: { name: asHeader(to.name), address: to.address },
      subject: asHeader(subject),
      text,
      ...(html === null ? {} : { html }),
      messageId: `<${id}@${domain}>`,
      // RFC 3834: suppresses automatic replies.
      headers: { 'Auto-Submitted': 'auto-generated' },
      // Contents are given as texts, so the library must not read a file or URL.
      ...{ disableFileAccess: true, disableUrlAccess: true },
    }).compile();
    return { envelope: node.getEnvelope(), content: await node.build() };
  }
}

/** Runs a call of the library that calls back. */
function answered(call: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => {
      if (error == null) resolve();
      else reject(error);
    });
  });
}

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
function asHeader(text: string): string {
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
function toMailError(error: unknown, isHandedOver: boolean): MailNotSent | MailRefused | MailUnknown {
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
