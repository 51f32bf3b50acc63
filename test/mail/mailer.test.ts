import { once, setMaxListeners } from 'node:events';
import { createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { MailNotSent, MailRefused } from '../../src/mail/errors.js';
import { makeMailer, type OutgoingMail } from '../../src/mail/mailer.js';
import { parseSmtpUrl, type SmtpServer } from '../../src/mail/smtp-url.js';
import { testCertificate } from '../support/servers/eventstoredb-server/tls.js';
import {
  type SmtpServerOptions,
  startSmtpServer,
  type TestSmtpServer,
} from '../support/servers/smtp-server.js';

const mail: OutgoingMail = {
  id: '018f0000-0000-7000-8000-000000000001',
  to: { name: '', address: 'ada@example.org' },
  subject: 'A subject',
  text: 'A text\n',
  html: '<p>A text</p>\n',
};
const from = { name: 'Stowage', address: 'no-reply@stowage.example' };

function never(): AbortSignal {
  return new AbortController().signal;
}

async function givenServer(t: ExecutionContext, options: SmtpServerOptions = {}): Promise<TestSmtpServer> {
  const server = await startSmtpServer(options);
  t.teardown(() => server.close());
  return server;
}

function mailerTo(url: string): ReturnType<typeof makeMailer> {
  return makeMailer({ server: parsed(url), from, trustedCertificates: testCertificate });
}

function parsed(url: string): SmtpServer {
  const server = parseSmtpUrl(url);
  if (server === null) throw new Error(`${url} is none`);
  return server;
}

/** Starts a server that passes each connection to `serve`. Returns its URL. */
async function givenSocketServer(t: ExecutionContext, serve: (socket: Socket) => void): Promise<string> {
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
  return `smtp://127.0.0.1:${address.port}`;
}

test('A mail arrives with its content unchanged', async (t) => {
  const server = await givenServer(t);
  await mailerTo(server.url).send({ ...mail, subject: 'Grüße', text: 'Schöne Grüße\n.\nEnde\n' }, never());
  const [received] = await server.received(1);
  t.like(received, { from: 'no-reply@stowage.example', to: ['ada@example.org'], secure: false, user: null });
  t.like(received?.email, {
    subject: 'Grüße',
    from: { name: 'Stowage', address: 'no-reply@stowage.example' },
    messageId: `<${mail.id}@stowage.example>`,
  });
  t.is(received?.email.text?.trim(), 'Schöne Grüße\n.\nEnde');
  t.is(received?.email.html?.trim(), '<p>A text</p>');
  const headers = new Map(received?.email.headers.map(({ key, value }) => [key, value]));
  t.is(headers.get('auto-submitted'), 'auto-generated');
});

test('Two mails of one request have the same Message-ID', async (t) => {
  const server = await givenServer(t);
  const mailer = mailerTo(server.url);
  await mailer.send(mail, never());
  await mailer.send(mail, never());
  await mailer.send({ ...mail, id: '018f0000-0000-7000-8000-000000000002' }, never());
  const [one, again, other] = (await server.received(3)).map(({ email }) => email.messageId);
  t.is(one, again);
  t.not(one, other);
});

for (const tls of ['starttls', 'implicit'] as const) {
  test(`The mailer signs in over TLS (${tls})`, async (t) => {
    const server = await givenServer(t, { tls, credentials: { user: 'us:er', password: 'p@ss/wörd' } });
    await mailerTo(server.url).send(mail, never());
    t.like((await server.received(1))[0], { secure: true, user: 'us:er' });
  });

  test(`The mailer refuses an untrusted certificate (${tls})`, async (t) => {
    const server = await givenServer(t, { tls });
    const mailer = makeMailer({ server: parsed(server.url), from });
    await t.throwsAsync(mailer.send(mail, never()), { instanceOf: MailNotSent });
    t.is(server.mails.length, 0);
  });
}

test('Credentials are never sent unencrypted over a network', async (t) => {
  t.true(parsed('smtp://user:password@mail.example.org').requireTls);
  t.is(parsed('smtp://my_mail:25').host, 'my_mail');
  t.false(parsed('smtp://mail.example.org').requireTls);
  t.false(parsed('smtp://user:password@127.0.0.1').requireTls);
  const server = await givenServer(t, { credentials: { user: 'user', password: 'canary' } });
  const mailer = makeMailer({ server: { ...parsed(server.url), requireTls: true }, from });
  await t.throwsAsync(mailer.send(mail, never()), { instanceOf: MailNotSent });
  t.is(server.mails.length, 0);
});

const refusals: readonly (readonly [string, SmtpServerOptions, 'retry' | 'give up', RegExp])[] = [
  ['a deferred recipient', { onRecipient: () => refusal(450) }, 'retry', /answered 450 4\.2\.1 to RCPT TO$/],
  [
    'an unknown recipient',
    { onRecipient: () => refusal(550) },
    'give up',
    /answered 550 4\.2\.1 to RCPT TO$/,
  ],
  ['a deferred message', { onMessage: () => refusal(451) }, 'retry', /answered 451 4\.2\.1 to DATA$/],
  ['a refused message', { onMessage: () => refusal(554) }, 'give up', /answered 554 4\.2\.1 to DATA$/],
  ['a confused session', { onRecipient: () => refusal(503) }, 'retry', /503/],
  // The sender's address or the configuration is wrong, and an operator can correct it.
  ['a refused sender', { onSender: () => refusal(550) }, 'retry', /answered 550 4\.2\.1 to MAIL FROM$/],
];

function refusal(code: number): { code: number; text: string } {
  return { code, text: '4.2.1 the canary ada@example.org is not at home' };
}

for (const [what, options, verdict, message] of refusals) {
  test(`The mailer answers ${what} with "${verdict}"`, async (t) => {
    const server = await givenServer(t, options);
    const instanceOf = verdict === 'retry' ? MailNotSent : MailRefused;
    const error = await t.throwsAsync(mailerTo(server.url).send(mail, never()), { instanceOf, message });
    checkNoSecret(t, error);
  });
}

test('Wrong credentials allow a retry and appear in no message', async (t) => {
  const server = await givenServer(t, { credentials: { user: 'user', password: 'right' } });
  const mailer = mailerTo(server.url.replace('right', 'canary'));
  const error = await t.throwsAsync(mailer.send(mail, never()), { instanceOf: MailNotSent, message: /535/ });
  checkNoSecret(t, error);
});

function checkNoSecret(t: ExecutionContext, error: Error | undefined): void {
  const { cause } = error ?? {};
  const text = `${error?.stack ?? ''} ${JSON.stringify(error)} ${String(cause)}`;
  t.notRegex(text, /ada@|canary|A text/);
}

test('The mailer waits at most 5 s for a greeting', async (t) => {
  const url = await givenSocketServer(t, () => undefined);
  const started = Date.now();
  await t.throwsAsync(mailerTo(url).send(mail, never()), { instanceOf: MailNotSent, message: /ETIMEDOUT/ });
  const tookMs = Date.now() - started;
  t.true(tookMs > 4_500, `${tookMs} ms`);
});

test('A refused connection and one that breaks off in a message allow a retry', async (t) => {
  const server = await startSmtpServer();
  await server.close();
  await t.throwsAsync(mailerTo(server.url).send(mail, never()), { instanceOf: MailNotSent });
  const cutting = await givenSocketServer(t, (socket) => {
    socket.write('220 test ESMTP\r\n');
    socket.on('data', (chunk) => {
      const text = chunk.toString('utf8');
      if (text.startsWith('EHLO')) socket.write('250 test\r\n');
      else if (text.startsWith('DATA')) socket.write('354 go on\r\n');
      else if (/^(MAIL|RCPT)/.test(text)) socket.write('250 fine\r\n');
      else socket.destroy();
    });
  });
  const error = await t.throwsAsync(mailerTo(cutting).send(mail, never()), { instanceOf: MailNotSent });
  checkNoSecret(t, error);
});

test('The signal aborts a mail before and during the transfer', async (t) => {
  const url = await givenSocketServer(t, () => undefined);
  const mailer = mailerTo(url);
  await t.throwsAsync(mailer.send(mail, AbortSignal.abort()), { instanceOf: MailNotSent });
  const controller = new AbortController();
  const started = Date.now();
  const sending = mailer.send(mail, controller.signal);
  setTimeout(() => {
    controller.abort();
  }, 100);
  await t.throwsAsync(sending, { instanceOf: MailNotSent, message: 'the mail was cut off' });
  t.true(Date.now() - started < 3_000);
});

test('Mails are paced, at most 4 at once, and at most 100 wait', async (t) => {
  let [atOnce, most, refused] = [0, 0, 0];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  // The server holds the first four mails until the queue has refused all 16 beyond it, however slowly that goes.
  // Then it waits 300 ms, so that a fifth mail at once would be seen.
  const releaseOnceSeen = (): void => {
    if (atOnce === 4 && refused === 16) setTimeout(release, 300);
  };
  const server = await givenServer(t, {
    onMessage: async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      releaseOnceSeen();
      await released;
      atOnce -= 1;
      return null;
    },
  });
  const mailer = mailerTo(server.url);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const sent = Array.from({ length: 120 }, () =>
    mailer.send(mail, controller.signal).then(
      () => 'sent',
      (error: unknown) => {
        if (!(error instanceof MailNotSent)) return 'something else';
        if (error.message.startsWith('more than 100 mails wait')) refused += 1;
        releaseOnceSeen();
        return error.message;
      },
    ),
  );
  await server.received(8);
  controller.abort();
  const outcomes = await Promise.all(sent);
  t.is(most, 4);
  t.is(refused, 16);
  t.false(outcomes.includes('something else'));
});

const hostileAddresses = [
  'ada@example.org\r\nRCPT TO:<eve@example.org>',
  'ada@example.org>\r\nDATA',
  'ada@example.org,eve@example.org',
  'ada@example.org eve@example.org',
  '<ada@example.org>',
  'Ada <ada@example.org>',
  '"ada eve"@example.org',
  'ada@example.org\0',
  'ada@eve@example.org',
  'ada\u2028@example.org',
  '@example.org',
  'ada@',
  '',
  `${'a'.repeat(250)}@example.org`,
];

test('An address that could contain more than an address is refused before a connection', async (t) => {
  const server = await givenServer(t);
  const mailer = mailerTo(server.url);
  for (const address of hostileAddresses) {
    const sending = mailer.send({ ...mail, to: { name: '', address } }, never());
    await t.throwsAsync(sending, { instanceOf: MailRefused }, JSON.stringify(address));
  }
  t.is(server.connections(), 0);
});

const hostileTexts = [
  'Eve\r\nBcc: eve@example.org',
  'Eve\nBcc: eve@example.org\n\nanother body',
  'Eve <eve@example.org>, "',
  'Eve", <eve@example.org>',
  'eve@example.org',
  'Eve\u2028Bcc: eve@example.org',
  'Eve\0',
  '=?utf-8?q?Bcc=3A_eve=40example.org?=',
  'ईव 🦊 Ève',
  'Eve '.repeat(100),
];

test('Names and subjects stay names and subjects, even with hostile content', async (t) => {
  const server = await givenServer(t);
  const mailer = mailerTo(server.url);
  for (const text of hostileTexts) {
    await mailer.send({ ...mail, to: { ...mail.to, name: text }, subject: text }, never());
    const received = server.mails.at(-1);
    t.deepEqual(received?.to, ['ada@example.org'], text);
    t.deepEqual(
      received?.email.to?.map(({ address }) => address),
      ['ada@example.org'],
      text,
    );
    t.is(received?.email.cc, undefined);
    t.is(received?.email.bcc, undefined);
    t.is(received?.email.text?.trim(), mail.text.trim(), text);
    const keys = received?.email.headers.map(({ key }) => key).sort();
    t.deepEqual(keys, [
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ]);
    t.is(
      received?.email.subject?.replaceAll('\u2060', ''),
      text.replace(/[\r\n\0\u2028]+/g, ' ').trim(),
      text,
    );
  }
});

test('An address in another script is sent if the server accepts it', async (t) => {
  const server = await givenServer(t);
  await mailerTo(server.url).send({ ...mail, to: { name: '', address: 'jürgen@bücher.example' } }, never());
  t.is(server.mails.length, 1);
});
