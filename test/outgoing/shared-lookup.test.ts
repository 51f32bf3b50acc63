import type { LookupAddress } from 'node:dns';
import test from 'ava';
import { sharingLookup } from '../../src/outgoing/shared-lookup.js';
import { eventually } from '../support/eventually.js';
import { makeTestClock } from '../support/fakes/clock.js';

const address: LookupAddress = { address: '192.0.2.7', family: 4 };

/** Look-ups that end when the test says so. */
function givenLookups() {
  const asked: string[] = [];
  const open = new Map<string, { readonly end: (error: Error | null) => void }>();
  const clock = makeTestClock();
  const lookup = sharingLookup(
    (hostname) =>
      new Promise((resolve, reject) => {
        asked.push(hostname);
        open.set(hostname, {
          end: (error) => {
            if (error === null) resolve([address]);
            else reject(error);
          },
        });
      }),
    clock,
  );
  const ask = (hostname: string, account?: string) =>
    new Promise<readonly LookupAddress[]>((resolve, reject) => {
      const callback = (error: Error | null, addresses: readonly LookupAddress[]): void => {
        if (error === null) resolve(addresses);
        else reject(error);
      };
      lookup(hostname, callback, account === undefined ? undefined : () => Promise.resolve(account));
    });
  const end = async (hostname: string, error: Error | null = null): Promise<void> => {
    (await eventually(`a question for ${hostname}`, () => open.get(hostname))).end(error);
    open.delete(hostname);
  };
  return { ask, asked, end, clock };
}

test('A host whose look-up hangs has one running look-up, and other hosts get their addresses', async (t) => {
  const { ask, asked, end } = givenLookups();
  const waiting = [ask('hangs.example'), ask('hangs.example'), ask('hangs.example')];
  const other = ask('other.example');
  await end('other.example');
  t.deepEqual(await other, [address]);
  t.deepEqual(asked, ['hangs.example', 'other.example']);
  await end('hangs.example');
  t.deepEqual(await Promise.all(waiting), [[address], [address], [address]]);
});

test('The addresses of a name are not kept: the next request looks up again', async (t) => {
  const { ask, asked, end } = givenLookups();
  for (let round = 0; round < 2; round += 1) {
    const found = ask('name.example');
    await end('name.example');
    t.deepEqual(await found, [address]);
  }
  t.deepEqual(asked, ['name.example', 'name.example']);
});

test('A failed look-up is kept for five seconds', async (t) => {
  const { ask, asked, end, clock } = givenLookups();
  const first = ask('name.example');
  await end('name.example', new Error('no such name'));
  await t.throwsAsync(first, { message: 'no such name' });
  clock.advance(4_999);
  await t.throwsAsync(ask('name.example'), { message: 'no such name' });
  t.deepEqual(asked, ['name.example']);
  clock.advance(1);
  const later = ask('name.example');
  await end('name.example');
  t.deepEqual(await later, [address]);
});

test('Sixty names of an account that hang take four look-ups, and other accounts get their addresses', async (t) => {
  // Given sixty names whose servers never answer
  const { ask, asked, end } = givenLookups();
  const hanging = Array.from({ length: 60 }, (_, n) => ask(`n${n}.example`, 'hostile'));
  await eventually('four questions', () => asked.length === 4);
  // When another account and the operator look names up
  const honest = ask('bucket.example', 'honest');
  const ofOperator = ask('hooks.example');
  await end('bucket.example');
  await end('hooks.example');
  // Then they have their addresses, and each of the sixty fails after two seconds
  t.deepEqual(await Promise.all([honest, ofOperator]), [[address], [address]]);
  const ends = await Promise.allSettled(hanging);
  t.true(ends.every(({ status }) => status === 'rejected'));
  for (const settled of ends) {
    if (settled.status === 'rejected') t.like(settled.reason, { code: 'EAI_AGAIN' });
  }
  t.is(
    asked.filter((name) => name.startsWith('n')).length,
    4,
    'a permit is held until the servers have answered',
  );
  // When the servers' tries are over, the account looks up again
  for (const name of asked.slice(0, 4)) await end(name, new Error('no answer'));
  const again = ask('again.example', 'hostile');
  await end('again.example');
  t.deepEqual(await again, [address]);
});

test('A look-up ends after two seconds, and those of names that the caller waited for in vain are not kept', async (t) => {
  const { ask, end } = givenLookups();
  const startedMs = performance.now();
  await t.throwsAsync(ask('silent.example'), { code: 'EAI_AGAIN' });
  t.true(performance.now() - startedMs >= 1_990);
  // Its servers answer late, and the next request has the address.
  const late = ask('silent.example');
  await end('silent.example');
  t.deepEqual(await late, [address]);
});
