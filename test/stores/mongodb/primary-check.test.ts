/* Tests the bound on stale reads with a time that only the test moves. */
import test from 'ava';

import { makeAttempts, makePrimaryCheck } from '../../../src/stores/mongodb/calls/attempts.js';
import { defaultMongoDbLimits } from '../../../src/stores/mongodb/calls/limits.js';

test('The first read waits for a confirmation of the primary', async (t) => {
  const { hold, confirmations, settle } = given();
  const held = hold();
  let isHeld = false;
  void held.then(() => {
    isHeld = true;
  });
  await settle();
  t.false(isHeld);
  confirmations[0]?.succeed();
  await held;
  t.is(confirmations.length, 1);
});

test('Reads within a second of a confirmation start none', async (t) => {
  const { hold, confirmations, confirmed, time } = given();
  await confirmed();
  time.ms += 1_000;
  await Promise.all([hold(), hold()]);
  t.is(confirmations.length, 1);
});

test('A read after a second does not wait for the next confirmation', async (t) => {
  const { hold, confirmations, confirmed, time } = given();
  await confirmed();
  time.ms += 3_000;
  await Promise.all([hold(), hold()]);
  t.is(confirmations.length, 2);
});

test('A read after 3 s waits, and fails with the confirmation', async (t) => {
  const { hold, confirmations, confirmed, time } = given();
  await confirmed();
  time.ms += 3_001;
  const reads = [hold(), hold()];
  confirmations[1]?.fail(new Error('no majority'));
  for (const read of reads) await t.throwsAsync(read, { message: 'no majority' });
  const again = hold();
  confirmations[2]?.succeed();
  await again;
});

test('The age of a confirmation counts from its start', async (t) => {
  const { hold, confirmations, time } = given();
  const first = hold();
  time.ms += 3_001;
  confirmations[0]?.succeed();
  await t.throwsAsync(first, { message: 'the primary was not confirmed in time' });
});

function given() {
  const time = { ms: 0 };
  const confirmations: { readonly succeed: () => void; readonly fail: (error: Error) => void }[] = [];
  const attempt = makeAttempts({ poolSize: 20, permitWaitMs: 600_000, silenceMs: 600_000 });
  const hold = makePrimaryCheck({
    attempt,
    confirm: () => new Promise((succeed, fail) => confirmations.push({ succeed, fail })),
    limits: { ...defaultMongoDbLimits, readMs: 600_000 },
    nowMs: () => time.ms,
  });
  return {
    time,
    hold,
    confirmations,
    confirmed: async () => {
      const held = hold();
      confirmations[0]?.succeed();
      await held;
    },
    settle: async () => {
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
