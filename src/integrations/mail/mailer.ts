import { domainToASCII } from 'node:url';
import Bottleneck from 'bottleneck';
import type { Transporter } from 'nodemailer';
import { MailNotSent, MailRefused, toMailError } from './errors.js';
import { asHeader, isPlainAddress, type Mailbox } from './mailbox.js';
import type { SmtpServer } from './smtp-url.js';

/** What a mail says. */
export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface OutgoingMail extends MailMessage {
  /** UUID of what asked for it. The Message-ID is made from it, so that a mail sent twice is recognised as one. */
  readonly id: string;
  readonly to: Mailbox;
}

export interface Mailer {
  /**
   * Hands the mail to the server; it has taken it over when this resolves.
   * @throws MailNotSent, also when the signal aborts: the server may have it all the same. MailRefused: give up
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}

/** So many connections at once, and so many mails a second, are polite to any server. */
const atOnceMax = 4;
const betweenMs = 50;
/** More than all reactions ask for at once; one more is told to come back. */
const waitingMax = 100;

/** Each step ends well before an effect is cut off (45 s). In milliseconds. */
const timeLimits = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
  socketCloseTimeout: 1_000,
};

/**
 * Makes the mailer. Every mail has a connection of its own: mails are few and far between, a pooled connection would
 * mostly be found dead by the mail that needs it, and cutting one mail off must not touch another.
 */
export function makeMailer(deps: {
  readonly server: SmtpServer;
  readonly from: Mailbox;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly trustedCertificates?: Buffer;
}): Mailer {
  const { server, from, trustedCertificates } = deps;
  const domain = domainToASCII(from.address.slice(from.address.lastIndexOf('@') + 1));
  const { host, port, secure, requireTls: requireTLS, credentials } = server;
  // The library is loaded for the first mail: a service starts without it, and many send none.
  const makeTransport = async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...{ host, port, secure, requireTLS, ...timeLimits },
      // The machine's own name is nobody's business.
      name: domain,
      // Texts are given as texts: no name of a file or URL is ever followed.
      ...{ disableFileAccess: true, disableUrlAccess: true },
      ...(credentials === null ? {} : { auth: { user: credentials.user, pass: credentials.password } }),
      tls: {
        minVersion: 'TLSv1.2',
        ...(trustedCertificates === undefined ? {} : { ca: trustedCertificates }),
      },
    });
  };
  let transport: ReturnType<typeof makeTransport> | undefined;
  const limiter = new Bottleneck({
    maxConcurrent: atOnceMax,
    minTime: betweenMs,
    highWater: waitingMax,
    strategy: Bottleneck.strategy.OVERFLOW,
  });

  return {
    send: async (mail, signal) => {
      if (!isPlainAddress(mail.to.address)) throw new MailRefused('the address is none that mail is sent to');
      const sending = limiter.schedule(async () => {
        const ready = await (transport ??= makeTransport());
        if (!signal.aborted) await hand(ready, mail, signal);
      });
      try {
        await Promise.race([sending, rejectedBy(signal)]);
      } catch (error) {
        if (!(error instanceof Bottleneck.BottleneckError)) throw error;
        throw new MailNotSent(`more than ${waitingMax} mails wait for their turn`);
      }
    },
  };

  async function hand(
    transport: Transporter,
    { id, to, subject, text, html }: OutgoingMail,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await transport.sendMail({
        // Objects, not strings: what is in a name is never read as an address.
        from: { name: asHeader(from.name), address: from.address },
        to: { name: asHeader(to.name), address: to.address },
        subject: asHeader(subject),
        text,
        html,
        messageId: `<${id}@${domain}>`,
        // RFC 3834: no out-of-office answers, please.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal,
      });
    } catch (error) {
      // Without its cause, which may quote the address, the credentials or what the server said of them.
      throw toMailError(error);
    }
  }
}

/** So that a mail is cut off also while it waits for its turn. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => {
      reject(new MailNotSent('the mail was cut off'));
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
