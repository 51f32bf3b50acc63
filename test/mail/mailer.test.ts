import test, { type ExecutionContext } from 'ava';
import {
  MailNotSent,
  MailRefused,
  MailUnknown,
  makeMailer,
  type OutgoingMail,
  type SmtpTimes,
} from '../../src/mail/mailer.js';
import { parseSmtpUrl, type SmtpServer } from '../../src/mail/smtp-url.js';
import { patientMs } from '../support/clients/patient-http.js';
import { testCertificate } from '../support/servers/eventstoredb-server/tls.js';
import {
  type Act,
  startScriptedSmtp,
  type Step,
  steps,
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
const times: SmtpTimes = { connectMs: patientMs, greetingMs: patientMs, replyMs: patientMs };
const now = (): Promise<void> => Promise.resolve();
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
  return makeMailer({ server: parsed(url), from, times, trustedCertificates: testCertificate });
}

function parsed(url: string): SmtpServer {
  const server = parseSmtpUrl(url);
  if (server === null) throw new Error(`${url} is none`);
  return server;
}

test('A mail arrives with its content unchanged', async (t) => {
  const server = await givenServer(t);
  await mailerTo(server.url).send(
    { ...mail, subject: 'Grüße', text: 'Schöne Grüße\n.\nEnde\n' },
    never(),
    now,
  );
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

test('The mail server learns the domain of the sender, and not the name of the machine', async (t) => {
  const server = await givenServer(t);
  await mailerTo(server.url).send(mail, never(), now);
  t.is((await server.received(1))[0]?.helo, 'stowage.example');
});

test('Two mails of one request have the same Message-ID', async (t) => {
  const server = await givenServer(t);
  const mailer = mailerTo(server.url);
  await mailer.send(mail, never(), now);
  await mailer.send(mail, never(), now);
  await mailer.send({ ...mail, id: '018f0000-0000-7000-8000-000000000002' }, never(), now);
  const [one, again, other] = (await server.received(3)).map(({ email }) => email.messageId);
  t.is(one, again);
  t.not(one, other);
});

for (const tls of ['starttls', 'implicit'] as const) {
  test(`The mailer signs in over TLS (${tls})`, async (t) => {
    const server = await givenServer(t, { tls, credentials: { user: 'us:er', password: 'p@ss/wörd' } });
    await mailerTo(server.url).send(mail, never(), now);
    t.like((await server.received(1))[0], { secure: true, user: 'us:er' });
  });

  test(`The mailer refuses an untrusted certificate (${tls})`, async (t) => {
    const server = await givenServer(t, { tls });
    const mailer = makeMailer({ server: parsed(server.url), from, times });
    await t.throwsAsync(mailer.send(mail, never(), now), { instanceOf: MailNotSent });
    t.is(server.mails.length, 0);
  });
}

test('Credentials are never sent unencrypted over a network', async (t) => {
  t.true(parsed('smtp://user:password@mail.example.org').requireTls);
  t.is(parsed('smtp://my_mail:25').host, 'my_mail');
  t.false(parsed('smtp://mail.example.org').requireTls);
  t.false(parsed('smtp://user:password@127.0.0.1').requireTls);
  const server = await givenServer(t, { credentials: { user: 'user', password: 'canary' } });
  const mailer = makeMailer({ server: { ...parsed(server.url), requireTls: true }, from, times });
  await t.throwsAsync(mailer.send(mail, never(), now), { instanceOf: MailNotSent });
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
    const error = await t.throwsAsync(mailerTo(server.url).send(mail, never(), now), { instanceOf, message });
    checkNoSecret(t, error);
  });
}

test('Wrong credentials allow a retry and appear in no message', async (t) => {
  const server = await givenServer(t, { credentials: { user: 'user', password: 'right' } });
  const mailer = mailerTo(server.url.replace('right', 'canary'));
  const error = await t.throwsAsync(mailer.send(mail, never(), now), {
    instanceOf: MailNotSent,
    message: /535/,
  });
  checkNoSecret(t, error);
});

test('A server that offers no sign-in gets no mail of a mailer that has credentials', async (t) => {
  // Given a relay that takes mail from no stranger
  const onRecipient = () => ({ code: 554, text: '5.7.1 Relay access denied' });
  const server = await givenServer(t, { onRecipient });
  const mailer = mailerTo(server.url.replace('smtp://', 'smtp://user:canary@'));
  // When the mailer sends, then a retry follows, and not the refusal that the relay gives to strangers
  const error = await t.throwsAsync(mailer.send(mail, never(), now), {
    instanceOf: MailNotSent,
    message: /AUTH/,
  });
  checkNoSecret(t, error);
});

function checkNoSecret(t: ExecutionContext, error: Error | undefined): void {
  const { cause } = error ?? {};
  const text = `${error?.stack ?? ''} ${JSON.stringify(error)} ${String(cause)}`;
  t.notRegex(text, /ada@|canary|A text/);
}

async function givenScript(t: ExecutionContext, script: Partial<Record<Step, Act>>): Promise<string> {
  return (await startScriptedSmtp(t, (step) => script[step])).url;
}

for (const step of steps) {
  // After a slow machine has missed the time of an earlier answer, a silent end of the content would not be unknown.
  const limitMs = step === 'greeting' ? 300 : step === 'content' ? 3_000 : 600;
  const unsent = step === 'content' ? MailUnknown : MailNotSent;
  const mailTo = (url: string, ms = patientMs) => {
    const limit = step === 'greeting' ? { greetingMs: ms } : { replyMs: ms };
    const own = { ...times, ...limit };
    return makeMailer({ server: parsed(url), from, times: own }).send(mail, never(), now);
  };

  test(`The mailer waits for a slow answer to ${step}, and tells its end from a mail that was not sent`, async (t) => {
    await mailTo(await givenScript(t, { [step]: { afterMs: 360 } }));
    const silent = await givenScript(t, { [step]: 'silence' });
    const started = Date.now();
    const late = await t.throwsAsync(mailTo(silent, limitMs), { instanceOf: unsent, message: /ETIMEDOUT/ });
    checkNoSecret(t, late);
    t.true(Date.now() - started >= limitMs * 0.95);
    const cutting = await givenScript(t, { [step]: 'drop' });
    await t.throwsAsync(mailTo(cutting), { instanceOf: unsent });
    const deferring = await givenScript(t, { [step]: { reply: '451 4.2.1 canary' } });
    // A server that answers EHLO so may still know HELO, which this one does not.
    if (step !== 'EHLO')
      checkNoSecret(t, await t.throwsAsync(mailTo(deferring), { instanceOf: MailNotSent }));
  });
}

test('A refused connection allows a retry', async (t) => {
  const server = await startSmtpServer();
  await server.close();
  await t.throwsAsync(mailerTo(server.url).send(mail, never(), now), { instanceOf: MailNotSent });
});

test('The content leaves after the right to hand it over, and not without it', async (t) => {
  const server = await givenServer(t);
  const taken = new MailNotSent('another process has the mail');
  const refuse = (): Promise<void> => Promise.reject(taken);
  const error = await t.throwsAsync(mailerTo(server.url).send(mail, never(), refuse));
  t.is(error, taken);
  t.is(server.mails.length, 0);
});

test('An address that needs SMTPUTF8 is refused where the server lacks it, also before the first mail', async (t) => {
  const other = { ...mail, to: { name: '', address: 'jürgen@example.org' } };
  const lacking = mailerTo(await givenScript(t, {}));
  t.false(await lacking.lacksFor('ada@bücher.example'));
  t.true(await lacking.lacksFor(other.to.address));
  await t.throwsAsync(lacking.send(other, never(), now), { instanceOf: MailRefused, message: /SMTPUTF8/ });
  await lacking.send({ ...mail, to: { name: '', address: 'ada@bücher.example' } }, never(), now);
  const offering = mailerTo(await givenScript(t, { EHLO: { reply: '250-test\r\n250 SMTPUTF8' } }));
  t.false(await offering.lacksFor(other.to.address));
  await offering.send(other, never(), now);
  const away = mailerTo('smtp://127.0.0.1:1');
  t.false(await away.lacksFor(other.to.address));
});

test('The signal aborts a mail before and during the transfer', async (t) => {
  const url = await givenScript(t, { greeting: 'silence' });
  const mailer = mailerTo(url);
  await t.throwsAsync(mailer.send(mail, AbortSignal.abort(), now), { instanceOf: MailNotSent });
  const controller = new AbortController();
  const started = Date.now();
  const sending = mailer.send(mail, controller.signal, now);
  setTimeout(() => controller.abort(), 100);
  await t.throwsAsync(sending, { instanceOf: MailNotSent });
  t.true(Date.now() - started < 120_000);
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
    const sending = mailer.send({ ...mail, to: { name: '', address } }, never(), now);
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
    await mailer.send({ ...mail, to: { ...mail.to, name: text }, subject: text }, never(), now);
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
