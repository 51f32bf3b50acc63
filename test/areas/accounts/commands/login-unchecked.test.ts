import test from 'ava';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../../src/kit/semaphore.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { client, credentials, givenAccount } from '../../../support/given/given-account.js';

/* These tests sign in with a password that cannot be checked. */

const right = { ...credentials, ...client };
const wrong = { ...right, password: 'Wrong-Horse-7' };
const unknown = { ...right, email: 'nobody@example.com' };

test('A password whose pepper is missing is refused like a wrong one, with the same work and a report to the operator', async (t) => {
  const hashed: unknown[] = [];
  const world = await givenAccount();
  const without = givenCommands(world.stores, { peppers: ['p2'], onHash: ({ N }) => hashed.push(N) });
  const refusals = [right, unknown].map(async (tried) => {
    const error = await t.throwsAsync(without.login(tried, world.next()), { instanceOf: CommandRejected });
    return `${String(error.code)}: ${error.message}`;
  });
  const [forRight, forUnknown] = await Promise.all(refusals);
  t.is(forRight, forUnknown);
  t.is(hashed.length, 2);
  t.deepEqual(without.failures.map(String), ['KeyMissing: pepper p1 is not in PEPPERS; put it back']);
  await t.notThrowsAsync(world.login(right, world.next()), 'where the key is there, it is right');
});

test('A sign-in is refused before anything is written when no further hash is possible', async (t) => {
  const world = await givenAccount();
  const { stateStore } = world.stores;
  const full = givenCommands(world.stores, { hasRoom: () => false });
  const before = await stateStore.list('', { limit: 100 });
  for (const tried of [right, wrong, unknown]) {
    await t.throwsAsync(full.login(tried, world.next()), { instanceOf: Overloaded });
  }
  t.deepEqual(await stateStore.list('', { limit: 100 }), before);
  await t.notThrowsAsync(world.login(right, world.next()));
});
