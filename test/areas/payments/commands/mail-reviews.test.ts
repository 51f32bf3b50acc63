import test, { type ExecutionContext } from 'ava';
import { makeMailReviews } from '../../../../src/areas/payments/commands/reviews/mail-reviews.js';
import { MailNotSent } from '../../../../src/mail/errors.js';
import { type Mailer, makeMailer } from '../../../../src/mail/mailer.js';
import type { WaitingPayment } from '../../../../src/areas/payments/commands/reviews/payment-reviews.js';
import { parseSmtpUrl } from '../../../../src/mail/smtp-url.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { type SmtpServerOptions, startSmtpServer } from '../../../support/servers/smtp-server.js';

const dayMs = 86_400_000;
const recipients = ['ops@example.org', 'money@example.org'].map((address) => ({ name: '', address }));
const waitingPayment: WaitingPayment = {
  id: `standard-${'a'.repeat(64)}.0`,
  order_number: '01KDYAK348FB88HV9VNE7TNHFB',
  ...{ reason: 'second_payment', kind: 'paid', amount: 999, currency: 'USD' },
};

/** Makes processes that share their stores and mail over a real SMTP server. */
async function givenProcesses(t: ExecutionContext, options: SmtpServerOptions = {}) {
  const { stateStore, clock } = await givenStores();
  const smtp = await startSmtpServer(options);
  t.teardown(() => smtp.close());
  const server = parseSmtpUrl(smtp.url);
  if (server === null) throw new Error('the SMTP URL is not valid');
  const refused: string[] = [];
  const waiting: WaitingPayment[] = [];
  const start = (over: { readonly mailer?: Pick<Mailer, 'send'> } = {}) => {
    const mailReviews = makeMailReviews({
      orders: { inReview: ({ limit }) => Promise.resolve(waiting.slice(0, limit)) },
      mailer: makeMailer({
        server,
        from: { name: 'Stowage', address: 'no-reply@stowage.example' },
        times: { connectMs: 5_000, greetingMs: 5_000, replyMs: 10_000 },
      }),
      publicUrl: 'https://stowage.example',
      onRefused: ({ message }) => refused.push(message),
      ...{ stateStore, clock, recipients },
      ...over,
    });
    return () => mailReviews(new AbortController().signal);
  };
  return { start, waiting, smtp, clock, refused };
}

test('The operators get one mail a day from several processes, and only while a payment waits', async (t) => {
  const { start, waiting, smtp, clock } = await givenProcesses(t);
  const processes = [start(), start(), start(), start()];
  const lookAll = () => Promise.all(processes.map((look) => look()));
  // Given no payment that waits, then no mail
  t.deepEqual(await lookAll(), [false, false, false, false]);
  // When one waits, then one process mails each recipient once
  waiting.push(waitingPayment);
  t.is((await lookAll()).filter(Boolean).length, 1);
  clock.advance(dayMs - 1);
  t.deepEqual(await lookAll(), [false, false, false, false]);
  t.deepEqual(smtp.mails.flatMap(({ to }) => to).sort(), ['money@example.org', 'ops@example.org']);
  // and a day later once more, with another Message-ID.
  clock.advance(1);
  t.is((await lookAll()).filter(Boolean).length, 1);
  t.is(smtp.mails.length, 4);
  t.is(new Set(smtp.mails.map(({ email }) => email.messageId)).size, 4);
  // A day after the last payment was decided on, there is none.
  waiting.length = 0;
  clock.advance(dayMs);
  await lookAll();
  t.is(smtp.mails.length, 4);
});

test('The mail names orders, amounts and reasons, and says when more payments wait than it lists', async (t) => {
  const { start, waiting, smtp } = await givenProcesses(t);
  const look = start();
  for (let n = 0; n < 51; n += 1) waiting.push({ ...waitingPayment, amount: n });
  t.true(await look());
  for (const { email } of smtp.mails) {
    t.is(email.subject, 'Payments wait for a decision');
    for (const body of [email.text, email.html]) {
      const expected = `order 01KDYAK348FB88HV9VNE7TNHFB: second_payment (paid, 49 minor units of USD), payment standard-a`;
      t.true(body?.includes(expected));
      t.false(body?.includes(' 50 minor units'));
      t.true(body?.includes('More payments wait'));
    }
  }
});

test('A mail that the server does not take is tried again, and goes to no recipient twice', async (t) => {
  let isDown = true;
  const { start, waiting, smtp, clock, refused } = await givenProcesses(t, {
    onRecipient: (address) => (isDown && address.startsWith('money') ? { code: 451, text: 'later' } : null),
  });
  waiting.push(waitingPayment);
  const looks = [start(), start()];
  // When one of two recipients cannot be reached, then the caller learns it
  await t.throwsAsync(looks[0]?.() ?? Promise.resolve(), { instanceOf: MailNotSent });
  t.false((await looks[1]?.()) ?? true);
  // and after the pause another process mails the missing one.
  isDown = false;
  clock.advance(300_000);
  t.true(await looks[1]?.());
  t.deepEqual(
    smtp.mails.map(({ to }) => to[0]),
    ['ops@example.org', 'money@example.org'],
  );
  t.deepEqual(refused, []);
});

test('A recipient that the server refuses for good is reported without its address, and keeps no mail from the others', async (t) => {
  const { start, waiting, smtp, refused } = await givenProcesses(t, {
    onRecipient: (address) => (address.startsWith('money') ? { code: 550, text: 'money is unknown' } : null),
  });
  waiting.push(waitingPayment);
  t.true(await start()());
  t.deepEqual(
    smtp.mails.map(({ to }) => to[0]),
    ['ops@example.org'],
  );
  t.is(refused.length, 1);
  t.notRegex(refused.join(), /money/);
});

test('A process that dies between its claim and the mail leaves the mail to another one a minute later', async (t) => {
  const { start, waiting, smtp, clock } = await givenProcesses(t);
  waiting.push(waitingPayment);
  // Given a process that never comes back from its first mail
  let hasBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const hanging: Pick<Mailer, 'send'> = {
    send: () => {
      hasBegun();
      return new Promise<never>(() => undefined);
    },
  };
  void start({ mailer: hanging })();
  await begun;
  const look = start();
  t.false(await look());
  // When its claim has ended
  clock.advance(60_000);
  // Then another process mails.
  t.true(await look());
  t.is(smtp.mails.length, 2);
});
