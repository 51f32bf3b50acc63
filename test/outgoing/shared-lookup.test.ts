import type { LookupAddress } from 'node:dns';
import test from 'ava';
import { type Lookup, sharingLookup } from '../../src/outgoing/shared-lookup.js';

const address: LookupAddress = { address: '192.0.2.7', family: 4 };

/** Look-ups that end when the test says so. */
function givenLookups() {
  const asked: string[] = [];
  const open = new Map<string, Parameters<Lookup>[1]>();
  const lookup = sharingLookup((hostname, callback) => {
    asked.push(hostname);
    open.set(hostname, callback);
  });
  const ask = (hostname: string) =>
    new Promise<readonly LookupAddress[]>((resolve, reject) => {
      lookup(hostname, (error, addresses) => {
        if (error === null) resolve(addresses);
        else reject(error);
      });
    });
  const end = (hostname: string, error: Error | null = null) => open.get(hostname)?.(error, [address]);
  return { ask, asked, end };
}

test('A host whose look-up hangs has one running look-up, and other hosts get their addresses', async (t) => {
  const { ask, asked, end } = givenLookups();
  const waiting = [ask('hangs.example'), ask('hangs.example'), ask('hangs.example')];
  const other = ask('other.example');
  t.deepEqual(asked, ['hangs.example', 'other.example']);
  end('other.example');
  t.deepEqual(await other, [address]);
  end('hangs.example');
  t.deepEqual(await Promise.all(waiting), [[address], [address], [address]]);
});

test('The answer of a look-up is not kept: the next request looks up again', async (t) => {
  const { ask, asked, end } = givenLookups();
  const first = ask('name.example');
  end('name.example', new Error('no answer'));
  await t.throwsAsync(first, { message: 'no answer' });
  const second = ask('name.example');
  end('name.example');
  t.deepEqual(await second, [address]);
  t.deepEqual(asked, ['name.example', 'name.example']);
});
