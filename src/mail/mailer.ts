import { domainToASCII } from 'node:url';
import Bottleneck from 'bottleneck';
import type { Transporter } from 'nodemailer';
import { MailNotSent, MailRefused, toMailError } from './errors.js';
import { asHeader, isPlainAddress, type Mailbox } from './mailbox.js';
import type { SmtpServer } from './smtp-url.js';

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

export interface Mailer {
  /**
   * Hands the mail to the server. When this resolves, the server has accepted it.
   * @throws MailNotSent, also at an abort (the server may have accepted the mail); MailRefused: a retry is useless
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
}

/** At most this many connections at once, and 20 mails a second, so that no server is overloaded. */
const atOnceMax = 4;
const betweenMs = 50;
/** The length of the queue. All reactions together ask for fewer mails at once; a caller beyond it must retry. */
const waitingMax = 100;

/** Time limits in milliseconds. Each step ends well before an effect's time limit (45 s). */
const timeLimits = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
  socketCloseTimeout: 1_000,
};

/** Makes the mailer. Each mail has its own connection: mails are rare, and an abort must not affect another mail. */
export function makeMailer(deps: {
  readonly server: SmtpServer;
  readonly from: Mailbox;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly trustedCertificates?: Buffer;
}): Mailer {
  const { server, from, trustedCertificates } = deps;
  const domain = domainToASCII(from.address.slice(from.address.lastIndexOf('@') + 1));
  const { host, port, secure, requireTls: requireTLS, credentials } = server;
  // The library loads with the first mail, because it would slow the start, and many services send no mail.
  const makeTransport = async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...{ host, port, secure, requireTLS, ...timeLimits },
      // The server must not learn the machine's name.
      name: domain,
      // Contents are given as texts, so the library must not read a file or URL.
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
        // Objects, not strings: the library would parse addresses out of a name in a string.
        from: { name: asHeader(from.name), address: from.address },
        to: { name: asHeader(to.name), address: to.address },
        subject: asHeader(subject),
        text,
        ...(html === null ? {} : { html }),
        messageId: `<${id}@${domain}>`,
        // RFC 3834: suppresses automatic replies.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal,
      });
    } catch (error) {
      // Without its cause, which may quote the address, the credentials or the server's reply.
      throw toMailError(error);
    }
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void => {
      reject(new MailNotSent('the mail was cut off'));
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
