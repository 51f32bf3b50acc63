import { once } from 'node:events';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../eventually.js';
import { testCertificate, testKey } from './eventstoredb-server/tls.js';

/** A mail that the server has accepted. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The message as it came over the wire. */
  readonly raw: string;
  readonly email: Email;
  /** Whether it came over TLS, and the user who signed in. */
  readonly secure: boolean;
  readonly user: string | null;
  readonly at: Date;
}

/** The answer with which the server refuses an address or a message. */
export interface Refusal {
  readonly code: number;
  readonly text: string;
}

/** A real SMTP server in the process, on loopback. */
export interface TestSmtpServer {
  readonly port: number;
  /** The value for SMTP_URL. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** The mails that registrations cause. `mails` has all others, so that tests of these need not count the accounts. */
  readonly confirmations: readonly ReceivedMail[];
  /** Returns the number of connections so far. */
  connections(): number;
  /** Resolves with all mails once there are `count` of them. */
  received(count: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

export interface SmtpServerOptions {
  /** Default 0, which chooses a free port. */
  readonly port?: number;
  /** Default `none`. The certificate is the one for tests. */
  readonly tls?: 'none' | 'starttls' | 'implicit';
  /** The user that must sign in; by default the server requires none. */
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly onSender?: (address: string) => Refusal | null;
  readonly onRecipient?: (address: string) => Refusal | null;
  /** Decides on a message that has arrived, before the server accepts it. */
  readonly onMessage?: (mail: ReceivedMail) => Refusal | null | Promise<Refusal | null>;
  /** Receives an accepted mail; the client may have the answer already. */
  readonly onTaken?: (mail: ReceivedMail) => void;
}

export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const { tls = 'none', credentials } = options;
  const mails: ReceivedMail[] = [];
  const confirmations: ReceivedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    secure: tls === 'implicit',
    ...(tls === 'none' ? {} : { key: testKey, cert: testCertificate }),
    disabledCommands: [
      ...(tls === 'starttls' ? [] : ['STARTTLS']),
      ...(credentials === undefined ? ['AUTH'] : []),
    ],
    authOptional: credentials === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
    onAuth: ({ username, password }, _session, callback) => {
      const right = username === credentials?.user && password === credentials?.password;
      if (right) callback(null, { user: username });
      else callback(new Error(`no such user ${username ?? ''} with ${password ?? ''}`));
    },
    onMailFrom: ({ address }, _session, callback) => {
      callback(toError(options.onSender?.(address) ?? null));
    },
    onRcptTo: ({ address }, _session, callback) => {
      callback(toError(options.onRecipient?.(address) ?? null));
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        void take(Buffer.concat(chunks), {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: typeof session.user === 'string' ? session.user : null,
        }).then(callback, callback);
      });
    },
  });
  // In some tests the client closes the connection early.
  server.on('error', () => undefined);
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const user =
    credentials === undefined ? '' : `${encode(credentials.user)}:${encode(credentials.password)}@`;
  // On some machines the lookup of a name takes long, because it goes through the network. Only certificates need a
  // name.
  const host = tls === 'none' ? '127.0.0.1' : 'localhost';
  return {
    port: address.port,
    url: `${tls === 'implicit' ? 'smtps' : 'smtp'}://${user}${host}:${address.port}`,
    mails,
    confirmations,
    connections: () => connections,
    received: (count) =>
      eventually(
        () => `${count} mails arrive, after ${mails.length} of them`,
        () => mails.length >= count && mails,
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };

  async function take(
    raw: Buffer,
    envelope: Pick<ReceivedMail, 'from' | 'to' | 'secure' | 'user'>,
  ): Promise<Error | null> {
    const mail = {
      ...envelope,
      raw: raw.toString('utf8'),
      email: await PostalMime.parse(raw),
      at: new Date(),
    };
    const refusal = (await options.onMessage?.(mail)) ?? null;
    if (refusal !== null) return toError(refusal);
    (mail.email.subject === 'Confirm your address' ? confirmations : mails).push(mail);
    options.onTaken?.(mail);
    return null;
  }
}

function toError(refusal: Refusal | null): Error | null {
  return refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code });
}

function encode(text: string): string {
  return encodeURIComponent(text);
}
