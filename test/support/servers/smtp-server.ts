import { once } from 'node:events';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../eventually.js';
import { testCertificate, testKey } from './eventstoredb-server/tls.js';
import { createServer, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';

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
  /** The name in EHLO. */
  readonly helo: string;
  readonly at: Date;
}

/** The answer with which the server refuses an address or a message. */
interface Refusal {
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

/** Starts a mail server for a test, whose end closes it. */
export async function givenSmtpServer(
  t: ExecutionContext,
  options: SmtpServerOptions = {},
): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  t.teardown(() => server.close());
  return server;
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
    onMailFrom: ({ address }, _session, callback) => callback(toError(options.onSender?.(address) ?? null)),
    onRcptTo: ({ address }, _session, callback) => callback(toError(options.onRecipient?.(address) ?? null)),
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
          helo: session.hostNameAppearsAs,
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
    close: () => new Promise((resolve) => server.close(resolve)),
  };

  async function take(
    raw: Buffer,
    envelope: Pick<ReceivedMail, 'from' | 'to' | 'secure' | 'user' | 'helo'>,
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

export const steps = ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'content'] as const;
export type Step = (typeof steps)[number];

/** What the server does at a step: it answers after a time, ends the connection, or says nothing. */
export type Act = { readonly afterMs?: number; readonly reply?: string } | 'drop' | 'silence';

/** A mail whose content the server got, and whether it has sent its acceptance. */
interface RecordedMail {
  readonly recipient: string;
  readonly messageId: string;
  readonly at: number;
  isAccepted: boolean;
}

const replies: Readonly<Record<Step, string>> = {
  ...{ greeting: '220 test ESMTP', EHLO: '250 test', MAIL: '250 fine', RCPT: '250 fine', DATA: '354 go on' },
  content: '250 taken',
};

/**
 * Starts an SMTP server that follows a script, and records each mail that it gets. It ends with the test.
 * @param script gets each step; `recipient` is empty before RCPT. Without an act it answers at once
 */
export async function startScriptedSmtp(
  t: ExecutionContext,
  script: (step: Step, recipient: string) => Act | undefined,
): Promise<{ readonly url: string; readonly mails: readonly RecordedMail[] }> {
  const mails: RecordedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `smtp://127.0.0.1:${address.port}`, mails };

  function serve(socket: Socket): void {
    let isContent = false;
    let [recipient, content] = ['', ''];
    act('greeting');
    socket.on('data', (chunk) => {
      const text = chunk.toString('utf8');
      if (!isContent) {
        recipient = /^RCPT TO:<([^>]*)>/.exec(text)?.[1] ?? recipient;
        act(stepOf(text));
        return;
      }
      content += text;
      if (!content.endsWith('\r\n.\r\n')) return;
      const messageId = /^Message-ID: (.*)$/im.exec(content)?.[1]?.trim() ?? '';
      const mail = { recipient, messageId, at: Date.now(), isAccepted: false };
      mails.push(mail);
      act('content', () => {
        mail.isAccepted = true;
      });
    });

    function act(step: Step, onAccepted = (): void => undefined): void {
      isContent = step === 'DATA';
      const what = script(step, recipient) ?? {};
      if (what === 'drop') socket.destroy();
      else if (what !== 'silence') {
        const reply = what.reply ?? replies[step];
        setTimeout(() => {
          if (socket.writable && reply.startsWith('2')) onAccepted();
          socket.write(`${reply}\r\n`);
        }, what.afterMs ?? 0);
      }
    }
  }
}

function stepOf(text: string): Step {
  const verb = text.slice(0, 4);
  if (verb === 'EHLO' || verb === 'MAIL' || verb === 'RCPT' || verb === 'DATA') return verb;
  throw new Error(`the test server does not know ${verb}`);
}

/** A process that was killed so shortly before or after the arrival of a mail may not have recorded it. In milliseconds. */
const nearMs = 5_000;

/**
 * Compares the mails that a server has received with the events that ask for them. The event names its mail.
 * @param asked the events that ask for a mail
 * @param disturbedAtMs when processes were killed or frozen, in epoch milliseconds
 * @returns as sentences: missing mails, mails that no event asks for, copies that differ, and mails that came twice
 * although no process was disturbed at the time of the first
 */
export function findMailProblems(
  asked: readonly LogEvent[],
  mails: readonly ReceivedMail[],
  disturbedAtMs: readonly number[],
): { readonly problems: readonly string[]; readonly repeated: number } {
  const byId = new Map<string, ReceivedMail[]>();
  for (const mail of mails) {
    const id = mail.email.messageId?.slice(1).split('@')[0] ?? '';
    byId.set(id, [...(byId.get(id) ?? []), mail]);
  }
  const problems: string[] = [];
  let repeated = 0;
  for (const { id, type } of asked) {
    const same = byId.get(id) ?? [];
    byId.delete(id);
    if (same.length === 0) {
      problems.push(`no mail came for ${type} ${id}`);
      continue;
    }
    repeated += same.length - 1;
    if (new Set(same.map(({ to, email }) => `${to.join()}: ${email.text ?? ''}`)).size > 1)
      problems.push(`the mails of ${type} ${id} differ`);
    for (const { at } of same.slice(0, -1)) {
      if (!disturbedAtMs.some((ms) => Math.abs(ms - at.getTime()) < nearMs))
        problems.push(`the mail of ${type} ${id} came again after ${at.toISOString()} without a cause`);
    }
  }
  for (const [id, { length }] of byId) problems.push(`no event asks for the ${length} mails of ${id}`);
  return { problems, repeated };
}
