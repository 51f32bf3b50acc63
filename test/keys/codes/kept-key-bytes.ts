import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeSealer } from '../../../src/keys/sealing/sealer.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

// Prints the bytes of buffers that a sealer keeps after it has opened the values of 2,000 persons, beside work that takes small
// buffers and keeps none: node --expose-gc kept-key-bytes.js

const clock = makeTestClock();
const stateStore = makeMemoryStateStore({ clock });
const masterKeys = makeKeyring([{ kid: 'm1', key: Buffer.alloc(32, 1) }]);
const make = () => makeSealer({ stateStore, masterKeys, clock, randomBytes });
const scopes = Array.from({ length: 2_000 }, (_, n) => ({ kind: 'person', userId: `u${n}` }) as const);

const [one, other] = [make(), make()];
const persons = await Promise.all(
  scopes.map(async (scope) => ({ scope, sealed: await one.seal(scope, 'email', 'ada@example.org') })),
);
/** The engine frees the buffers of a collection in another thread, and the next collection waits for it. */
const collect = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await nextTurn();
  }
};
await collect();
const before = process.memoryUsage().arrayBuffers;
for (const { scope, sealed } of persons) {
  await other.open(scope, 'email', sealed);
  Buffer.from('a request'.repeat(100));
}
await collect();
const bytes = process.memoryUsage().arrayBuffers - before;
// A use after the count, so that nothing of the sealer was garbage before it.
const [first] = persons;
if (first !== undefined) await other.open(first.scope, 'email', first.sealed);
process.stdout.write(String(bytes));
