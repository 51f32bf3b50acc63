import test from 'ava';
import { makeMailReviews } from '../../../../src/areas/payments/commands/deciding/mail-reviews.js';
import { MailNotSent, type OutgoingMail } from '../../../../src/mail/mailer.js';
import type { WaitingPayment } from '../../../../src/areas/payments/commands/deciding/payment-reviews.js';
import { givenMails } from '../../../support/given/given-mails.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { pluck } from '../../../support/given/pluck.js';

const dayMs = 86_400_000;
const recipients = ['ops@example.org', 'money@example.org'].map((address) => ({ name: '', address }));
const waitingPayment: WaitingPayment = {
  id: `standard-${'a'.repeat(64)}.0`,
  order_number: '01KDYAK348FB88HV9VNE7TNHFB',
  ...{ reason: 'second_payment', kind: 'paid', amount: 999, currency: 'USD' },
};

/** Makes processes that share their stores. `isDown` says which recipients the mail server does not take now. */
async function given() {
  const stores = await givenStores();
  const { stateStore, clock } = stores;
  const waiting: WaitingPayment[] = [];
  const sent: OutgoingMail[] = [];
  const server = { isDown: (_: string): boolean => false };
  const { mails, deliver, records } = givenMails(stores, {
    send: async (mail, _, handOver) => {
      if (server.isDown(mail.to.address)) throw new MailNotSent('later');
      await handOver();
      sent.push(mail);
    },
  });
  const start = () =>
    makeMailReviews({
      orders: { inReview: ({ limit }) => Promise.resolve(waiting.slice(0, limit)) },
      publicUrl: 'https://stowage.example',
      ...{ mails, stateStore, clock, recipients },
    });
  return { start, waiting, sent, server, clock, deliver, records };
}

test('The operators get one mail a day from several processes, and only while a payment waits', async (t) => {
  const { start, waiting, sent, clock, deliver } = await given();
  const looks = [start(), start(), start()];
  const lookAll = async (): Promise<number> => {
    const answers = await Promise.all(looks.map((look) => look()));
    await deliver();
    return answers.filter(Boolean).length;
  };
  t.is(await lookAll(), 0);
  waiting.push(waitingPayment);
  t.is(await lookAll(), 1);
  t.deepEqual(
    sent.map(({ to }) => to.address),
    ['ops@example.org', 'money@example.org'],
  );
  clock.advance(dayMs - 1);
  t.is(await lookAll(), 0);
  clock.advance(300_000);
  t.is(await lookAll(), 1);
  t.is(new Set(pluck(sent, 'id')).size, 4);
  // A day after the last payment was decided on, there is none.
  waiting.length = 0;
  clock.advance(dayMs);
  t.is(await lookAll(), 0);
  t.is(sent.length, 4);
});

test('The mail names orders, amounts and reasons, and says when more payments wait than it lists', async (t) => {
  const { start, waiting, sent, deliver } = await given();
  for (let n = 0; n < 51; n += 1) waiting.push({ ...waitingPayment, amount: n });
  t.true(await start()());
  await deliver();
  for (const { subject, text, html } of sent) {
    t.is(subject, 'Payments wait for a decision');
    for (const body of [text, html]) {
      const expected = `order 01KDYAK348FB88HV9VNE7TNHFB: second_payment (paid, 49 minor units of USD), payment standard-a`;
      t.true(body?.includes(expected));
      t.false(body?.includes(' 50 minor units'));
      t.true(body?.includes('More payments wait'));
    }
  }
});

test('A mail that the server does not take waits until the next day, and goes to no recipient twice', async (t) => {
  const { start, waiting, sent, server, clock, deliver, records } = await given();
  const look = start();
  waiting.push(waitingPayment);
  server.isDown = (address) => address.startsWith('money');
  t.true(await look());
  await deliver();
  // The record of the mail names no address and no payment.
  t.notRegex(JSON.stringify(await records()), /@|standard|second_payment/);
  clock.advance(dayMs);
  t.true(await look());
  server.isDown = () => false;
  await deliver();
  t.deepEqual(
    sent.map(({ to }) => to.address),
    ['ops@example.org', 'ops@example.org', 'money@example.org'],
  );
});

test('A mail about reviews that was put off while the clock was a year ahead does not wait for a year', async (t) => {
  // Given a mail of a time when the clock was ahead, and a process that knows when the next one is due
  const { start, waiting, clock, deliver } = await given();
  const look = start();
  waiting.push(waitingPayment);
  clock.advance(365 * dayMs);
  t.true(await look());
  await deliver();
  t.false(await look());
  // When the clock is set back, then the next mail comes at once, and one a day from then on
  clock.advance(-365 * dayMs);
  t.true(await look());
  t.false(await look());
  clock.advance(dayMs);
  t.true(await look());
});
