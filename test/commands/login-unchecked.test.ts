import test from 'ava';
import { CommandRejected, Overloaded } from '../../src/event-sourcing/errors.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';

/* Sign-ins whose password cannot be checked. */

const right = {
  ...{ email: 'ada@example.com', password: 'Correct-Horse-7' },
  ...{ clientIp: '192.0.2.1', userAgent: null },
};
const wrong = { ...right, password: 'Wrong-Horse-7' };
const unknown = { ...right, email: 'nobody@example.com' };

/** Ada has registered. */
async function given() {
  const stores = await givenStores();
  let commandsSoFar = 0;
  const next = () => givenContext((commandsSoFar += 1), stores.clock.now());
  const commands = givenCommands(stores);
  await commands.register(right, next());
  return { stores, next, login: commands.login };
}

test('Given a password whose pepper is gone, then it is refused as a wrong one is, after the same work, and an operator told', async (t) => {
  const hashed: unknown[] = [];
  const world = await given();
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

test('Given no room for another hash, then a sign-in is refused before anything is written, whoever tries', async (t) => {
  const world = await given();
  const { stateStore } = world.stores;
  const full = givenCommands(world.stores, { hasRoom: () => false });
  const before = await stateStore.list('', { limit: 100 });
  for (const tried of [right, wrong, unknown]) {
    await t.throwsAsync(full.login(tried, world.next()), { instanceOf: Overloaded });
  }
  t.deepEqual(await stateStore.list('', { limit: 100 }), before);
  await t.notThrowsAsync(world.login(right, world.next()));
});
