import test, { type ExecutionContext } from 'ava';
import { findingsRecord, signedRecord } from '../../../../src/areas/audit/signing/audit-records.js';
import { parseWitnesses } from '../../../../src/areas/audit/signing/witnesses.js';
import { givenAuditStores, makeAuditEvent } from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../../../support/fakes/memory-state-store.js';
import { givenWitness, origin } from '../../../support/given/audit-signing.js';

/** A log whose checkpoints a witness cosigns, and a state as of 70 events beside a witness that has seen 90. */
async function givenRestored(t: ExecutionContext, hasRecord = true) {
  const stores = givenAuditStores(7, 100);
  const witness = await givenWitness(t);
  const witnesses = parseWitnesses(`${witness.vkey} ${witness.url}\n`);
  const start = (stateStore: ReturnType<typeof makeMemoryStateStore>) => {
    const process = stores.start({
      ...{ stateStore, witnesses },
      readModelStore: makeMemoryReadModelStore(),
      post: async (url, body) => {
        // `fetch` has other limits, such as 10 s to connect. A witness that does not answer contradicts nothing.
        return eventually('the witness answers', () =>
          fetch(url, { method: 'POST', body }).then(
            async (reply) => ({ status: reply.status, body: await reply.text() }),
            () => null,
          ),
        );
      },
    });
    t.teardown(() => process.stop());
    return process;
  };
  const [newer, restored] = [stores.stateStore, makeMemoryStateStore({ clock: stores.clock })];
  const first = start(newer);
  const cosigned = async (size: number): Promise<void> => {
    await stores.append(size - witness.sizeOf(origin));
    await eventually(
      `${size} events are cosigned`,
      async () => Object.values((await first.audit.readSigned())?.cosignatures ?? {})[0]?.size === size,
    );
  };
  await cosigned(70);
  const backup = await newer.get(signedRecord.key);
  await cosigned(90);
  await first.stop();
  stores.eventStore.restore(70);
  if (hasRecord) await restored.compareAndSet(signedRecord.key, null, backup?.value ?? null);
  const append = (count: number) =>
    stores.eventStore.append(
      'order-1',
      'no-stream',
      Array.from({ length: count }, (_, place) => makeAuditEvent(stores.random, place)),
    );
  return { restored, append, start: () => start(restored) };
}

for (const [what, count] of [
  ['without new events', 0],
  ['with new events', 5],
  ['with more events than the witness holds', 40],
] as const) {
  test(`A log and a state that were restored together, ${what}, are a contradiction before anything is signed`, async (t) => {
    const { restored, append, start } = await givenRestored(t);
    await append(count);
    const process = start();
    await eventually('a contradiction', () => process.audit.status().contradiction !== null);
    t.like(process.audit.status().contradiction, {
      source: 'witness witness.example/w1',
      what: 'the witness witness.example/w1 has cosigned 90 events, and the last checkpoint has 70',
    });
    t.is((await process.audit.readSigned())?.size, 70);
    t.not(await restored.get(findingsRecord.key), null);
  });
}

test('A log that was restored with a state without a checkpoint is a contradiction before anything is signed', async (t) => {
  // Given a state from before the first checkpoint, and new events
  const { append, start } = await givenRestored(t, false);
  await append(5);
  // When a process starts
  const process = start();
  // Then it has asked the witness, and signed nothing
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  t.like(process.audit.status().contradiction, {
    source: 'witness witness.example/w1',
    what: 'the witness witness.example/w1 has cosigned 90 events, and the log has 75',
  });
  t.is(await process.audit.readSigned(), null);
});

test('A contradiction that was found before anything was signed outlives the process that found it', async (t) => {
  // Given a contradiction on a state without a checkpoint
  const { restored, append, start } = await givenRestored(t, false);
  await append(5);
  const first = start();
  await eventually('a contradiction', () => first.audit.status().contradiction !== null);
  await first.stop();
  const found = await restored.get(findingsRecord.key);
  // When another process starts, which has not read the log yet
  const second = start();
  await eventually('it knows the contradiction', () => second.audit.status().contradiction !== null);
  // Then the record is that of the first one
  t.deepEqual(await restored.get(findingsRecord.key), found);
  await second.stop();
});
