import test from 'ava';
import fc from 'fast-check';
import {
  afterAttempt,
  isOver,
  retryAfterMs,
  triesMs,
  type Waiting,
  withEvent,
} from '../../src/webhooks/waiting.js';

const now = new Date('2026-01-05T00:00:00.000Z');
const at = { now, random: () => 0.5 };
/** An attempt whose receiver asks for no wait. */
const failed = { waitMs: 0 };
const waiting: Waiting = {
  ...{ next: 3, until: 5, pending: 3, failures: 2 },
  ...{ not_before: now.toISOString(), since: now.toISOString() },
};

const passed = (revision: number, ageMs = 0) => ({
  revision: BigInt(revision),
  recordedAt: new Date(now.getTime() - ageMs),
});

const isWithin = (record: Waiting | null, revision: number): boolean =>
  record !== null && record.next <= revision && revision <= record.until;

test('The wait before a retry doubles from 5 s to an hour, and half of it is random', (t) => {
  t.is(
    retryAfterMs(0, () => 0),
    2_500,
  );
  t.is(
    retryAfterMs(0, () => 1),
    5_000,
  );
  t.is(
    retryAfterMs(3, () => 1),
    40_000,
  );
  t.is(
    retryAfterMs(100, () => 1),
    3_600_000,
  );
  t.is(
    retryAfterMs(100, () => 0),
    1_800_000,
  );
});

test('A stream waits from its first undelivered event, and later events raise its end', (t) => {
  const first = withEvent(null, passed(3), now);
  const at = now.toISOString();
  t.deepEqual(first, { next: 3, until: 3, pending: 1, failures: 0, not_before: at, since: at });
  t.like(withEvent(first, passed(7), now), { next: 3, until: 7, pending: 2, failures: 0 });
  t.is(withEvent(waiting, passed(2), now), waiting, 'it was delivered before');
  t.is(withEvent(waiting, passed(5), now), waiting, 'it waits already');
});

test('An event that comes three days late begins to wait only then, and any other one waits with those before it', (t) => {
  const long = new Date(now.getTime() - triesMs).toISOString();
  const found = { ...waiting, since: long };
  t.is(withEvent(found, passed(6, triesMs), now).since, now.toISOString());
  t.is(withEvent(found, passed(6, triesMs - 1), now).since, long);
  t.is(withEvent(waiting, passed(6, triesMs), new Date(now.getTime() + 1)).since, waiting.since);
});

test('An attempt moves the record, removes it at its end, and yields to a replay and to another process', (t) => {
  const done = { from: 3, settled: 1, failed: null };
  t.like(afterAttempt(waiting, { ...done, to: 4 }, at), { next: 4, until: 5, pending: 2, failures: 0 });
  t.is(afterAttempt(waiting, { ...done, to: 6, settled: 3 }, at), null);
  // An event that came meanwhile has raised the end.
  t.like(afterAttempt({ ...waiting, until: 6 }, { ...done, to: 6, settled: 3 }, at), { next: 6, until: 6 });
  // An operator has begun a replay from 1, and another process has delivered up to 4.
  t.like(afterAttempt({ ...waiting, next: 1 }, { ...done, to: 6 }, at), { next: 1, until: 5 });
  t.like(afterAttempt({ ...waiting, next: 5 }, { ...done, to: 4 }, at), { next: 5 });
  const refused = afterAttempt(waiting, { from: 3, to: 3, settled: 0, failed }, at);
  t.like(refused, { next: 3, failures: 3 });
  t.is(refused?.not_before, new Date(now.getTime() + retryAfterMs(2, at.random)).toISOString());
});

test('A receiver that asks for a longer wait gets it', (t) => {
  for (const [waitMs, minimumMs] of [
    [60_000, 60_000],
    [1, retryAfterMs(0, at.random)],
  ] as const) {
    const expected = new Date(now.getTime() + minimumMs).toISOString();
    const result = { from: 3, to: 3, settled: 0, failed: { waitMs } };
    t.is(afterAttempt({ ...waiting, failures: 0 }, result, at)?.not_before, expected);
  }
});

test('An event is over three days after it began to wait', (t) => {
  const event = (ageMs: number) => passed(0, ageMs);
  const later = (ms: number) => new Date(now.getTime() + ms);
  t.false(isOver(waiting, event(0), later(triesMs - 1)));
  t.true(isOver(waiting, event(0), later(triesMs)));
  // An old event that waits only now, and a new event in a stream that waits for long
  t.false(isOver(waiting, event(triesMs), later(triesMs - 1)));
  t.false(isOver(waiting, event(-triesMs), later(triesMs)));
});

test('An event that began to wait while the clock was a year ahead is over three days after the clock is put right', (t) => {
  const yearMs = 365 * 86_400_000;
  const ahead = { ...waiting, since: new Date(now.getTime() + yearMs).toISOString() };
  for (const event of [passed(3), passed(3, -yearMs)]) {
    t.false(isOver(ahead, event, now));
    const after = afterAttempt(ahead, { from: 3, to: 3, settled: 0, failed }, at);
    t.is(after?.since, now.toISOString());
    const isOverAfter = (ms: number) => after !== null && isOver(after, event, new Date(now.getTime() + ms));
    t.false(isOverAfter(triesMs - 1));
    t.true(isOverAfter(triesMs));
  }
});

test('No order of passed events and attempts leaves an undelivered event outside the record', (t) => {
  // A model: the checkpoint passes revisions in order; attempts deliver from the record that they read, which may be old.
  const steps = fc.array(fc.constantFrom('pass', 'read', 'settle', 'fail'), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (taken) => {
      let record: Waiting | null = null;
      let count = 0;
      let read: Waiting | null = null;
      const delivered = new Set<number>();
      for (const step of taken) {
        if (step === 'pass') {
          record = withEvent(record, passed(count), now);
          count += 1;
        } else if (step === 'read') read = record;
        else if (read !== null && record !== null) {
          const to: number = step === 'settle' ? read.until + 1 : read.next;
          for (let revision = read.next; revision < to; revision += 1) delivered.add(revision);
          const result = {
            from: read.next,
            to,
            settled: to - read.next,
            failed: step === 'fail' ? failed : null,
          };
          record = afterAttempt(record, result, at);
          read = null;
        }
      }
      return Array.from({ length: count }, (_, revision) => revision).every(
        (revision) => delivered.has(revision) || isWithin(record, revision),
      );
    }),
    { seed: 1, numRuns: 5_000 },
  );
  t.pass();
});
