import test from 'ava';
import { makeOutbox } from '../../src/event-sourcing/effects/outbox.js';
import { makeMailOutbox } from '../../src/mail/mail-outbox.js';
import type { Mailer } from '../../src/mail/mailer.js';
import { makeMemoryStateStore } from '../support/fakes/memory-state-store.js';
import { mailWaits } from '../support/given/given-mails.js';
import { makeVirtualClock } from '../support/kernel/virtual-clock.js';

/** The limits of RFC 5321, section 4.5.3.2, which the server almost reaches; the connection has that of the service. */
const minute = 60_000;
const limitsMs = {
  ...{ connect: minute, greeting: 5 * minute, EHLO: 5 * minute, MAIL: 5 * minute, RCPT: 5 * minute },
  ...{ DATA: 2 * minute, content: 10 * minute },
};
type Phase = keyof typeof limitsMs;
const phases = Object.keys(limitsMs) as readonly Phase[];
const promptMs = 5;

/**
 * Sends a mail each second, or after another time, to one after the other of `recipients`. @returns how long each waited for its
 * acceptance, on the clock of the simulation, so that no slow machine changes it
 */
async function waits(
  recipients: readonly string[],
  slowAt: (recipient: string, phase: Phase) => boolean,
  everyMs = 1_000,
) {
  const clock = makeVirtualClock();
  const stateStore = makeMemoryStateStore({ clock });
  const outbox = makeOutbox({ stateStore, clock, onRetry: () => undefined });
  const accepted = new Map<string, number>();
  const send: Mailer['send'] = async ({ id, to }, signal, handOver) => {
    for (const phase of phases) {
      if (phase === 'content') await handOver();
      await clock.sleep(slowAt(to.address, phase) ? limitsMs[phase] - 1 : promptMs, signal);
    }
    accepted.set(id, clock.now().getTime());
  };
  const mails = makeMailOutbox({
    ...{ outbox, stateStore, clock, waits: mailWaits, mailer: { send }, random: () => 1 },
    ...{ onRetry: () => undefined, onGivenUp: () => undefined },
  });
  const request = mails.add({
    name: 'codes',
    open: ({ id }) => {
      const mail = { id, to: { name: '', address: id }, subject: 'S', text: 'T', html: null };
      return Promise.resolve({ mail, record: () => Promise.resolve() });
    },
  });
  const close = outbox.open(mails.lane);
  const requested = new Map<string, number>();
  for (const id of recipients) {
    requested.set(id, clock.now().getTime());
    await request({ id, event: null, person: null });
    await clock.advance(everyMs);
  }
  await clock.until(() => accepted.size === recipients.length, 60 * minute);
  await clock.run(close());
  return recipients.map((id) => (accepted.get(id) ?? Infinity) - (requested.get(id) ?? 0));
}

for (const where of [...phases, 'every phase'] as const) {
  test(`A server that is slow for some recipients at ${where} makes the others wait at most a second more`, async (t) => {
    // Given fifty recipients for whom the server takes almost as long as the service waits, and others between them
    const recipients = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? `slow-${n}` : `other-${n}`));
    const isSlow = (recipient: string, phase: Phase) =>
      recipient.startsWith('slow') && (where === 'every phase' || where === phase);
    // When the same mails go to this server and to a prompt one
    const [among, alone] = [await waits(recipients, isSlow), await waits(recipients, () => false)];
    // Then the others wait no more than a second longer than at the prompt one
    const moreMs = recipients.map((recipient, n) =>
      recipient.startsWith('other') ? (among[n] ?? Infinity) - (alone[n] ?? 0) : 0,
    );
    t.log(`the others wait ${Math.max(...moreMs)} ms more, the slow ones ${Math.max(...among)} ms in all`);
    t.true(Math.max(...moreMs) <= 1_000);
    t.true(Math.max(...among) >= minute - 1);
  });
}

test('A server that falls silent on hundreds of mails of one moment makes the next recipients wait no longer', async (t) => {
  const recipients = [...Array.from({ length: 260 }, (_, n) => `slow-${n}`), 'other-1', 'other-2'];
  const [among = [], alone = []] = await Promise.all(
    ['slow', 'none'].map((slow) => waits(recipients, (recipient) => recipient.startsWith(slow), 0)),
  );
  for (const n of [260, 261]) t.true((among[n] ?? Infinity) - (alone[n] ?? 0) <= 1_000);
});
