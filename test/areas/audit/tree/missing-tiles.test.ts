import test, { type ExecutionContext } from 'ava';

import { auditCollection } from '../../../../src/areas/audit/tree/tile-store.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import {
  type AuditProcess,
  type AuditProcessOptions,
  givenAuditStores,
  makeAuditEvent,
  readWholeLog,
  rootOfEvents,
} from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { makeMemoryReadModelStore } from '../../../support/fakes/memory-read-model-store.js';
import { loseTiles, signedAt, treeRead } from '../../../support/given/audit-signing.js';

/** A log that counts how often a process follows it from its first event. */
function given(t: ExecutionContext, seed: number, clockFactor?: number) {
  const stores = givenAuditStores(seed, clockFactor);
  const rebuilds = { count: 0 };
  const eventStore: EventStore = {
    ...stores.eventStore,
    subscribe: (options) => {
      if (options.after === null) rebuilds.count += 1;
      return stores.eventStore.subscribe(options);
    },
  };
  const start = (more: Partial<AuditProcessOptions> = {}) => {
    const process = stores.start({ eventStore, ...more });
    t.teardown(() => process.stop());
    return process;
  };
  return { ...stores, rebuilds, start };
}

/** Reads proofs for half a second, as clients that poll do. */
async function pollProofs(process: AuditProcess, size: number): Promise<number> {
  let missed = 0;
  for (let turn = 0; turn < 50; turn += 1) {
    const [result] = await Promise.allSettled([process.tree.inclusion(size - 1, size)]);
    if (result.status === 'rejected') missed += 1;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return missed;
}

test('While the log contradicts what was signed, reads of missing tiles start no rebuild', async (t) => {
  // Given a signed log of 700 events, of which an older backup has 300
  const { eventStore, append, rebuilds, start } = given(t, 1);
  await append(700);
  const before = start();
  await signedAt(before, 700);
  await before.stop();
  eventStore.restore(300);
  const process = start({ readModelStore: makeMemoryReadModelStore() });
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  await eventually('the log is sequenced', () => process.sequencer.stored()?.size === 300);
  // When clients ask for proofs at the signed size
  const rebuiltBefore = rebuilds.count;
  const missed = await pollProofs(process, 700);
  // Then each read fails, and none starts a rebuild
  t.is(missed, 50);
  t.is(rebuilds.count, rebuiltBefore);
  t.is((await process.audit.readSigned())?.size, 700);
  await process.stop();
});

test('A tile that is lost while a contradiction stands is written again for the check of the signer, and the contradiction stays', async (t) => {
  // Given a contradiction, and then a lost tile
  const { append, stateStore, readModelStore, start } = given(t, 2);
  await append(300);
  const process = start();
  await signedAt(process, 300);
  const signed = await stateStore.get('audit/checkpoint');
  const value = { ...(signed?.value as object), root: Buffer.alloc(32, 1).toString('base64') };
  await stateStore.compareAndSet('audit/checkpoint', signed?.version ?? null, value);
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  await process.stop();
  const contradicted = start();
  await eventually('a contradiction', () => contradicted.audit.status().contradiction !== null);
  await loseTiles(readModelStore);
  await t.throwsAsync(contradicted.tree.inclusion(3, 299), { name: 'StoreUnavailable' });
  // Then the check itself needs the tree: its rebuild changes nothing that is signed
  await treeRead('the tree is there', () => contradicted.tree.rootAt(300));
  t.not(contradicted.audit.status().contradiction, null);
  t.is((await contradicted.audit.readSigned())?.['root'], value.root);
  await contradicted.stop();
});

test('A tile that is lost while the log grows changes no root that is signed', async (t) => {
  const { eventStore, append, readModelStore, start } = given(t, 3);
  await append(600);
  const process = start();
  await signedAt(process, 600);
  for (let size = 600; size < 900; size += 100) {
    await loseTiles(readModelStore);
    await append(100);
    await signedAt(process, size + 100);
    const root = rootOfEvents(await readWholeLog(eventStore)).toString('base64');
    t.is((await process.audit.readSigned())?.root, root);
  }
  t.is(process.audit.status().contradiction, null);
  await process.stop();
});

test('A process that finds a differing tile compares all tiles again after ten minutes, and not before', async (t) => {
  // Given a log of which a stored tile differs
  const { eventStore, random, rebuilds, readModelStore, start, clock } = given(t, 4, 400);
  const whole = Array.from({ length: 300 }, (_, place) => makeAuditEvent(random, place));
  await eventStore.append('asset-1', 'no-stream', whole);
  await readModelStore.ensureCollection(auditCollection, []);
  const body = { hashes: Buffer.alloc(32 * 256, 7).toString('base64') };
  const document = { id: 'tile/0/0', revision: 255n, body };
  await readModelStore.write(auditCollection, [{ document, foldedFrom: 'whole-stream' }]);
  const startedMs = clock.now().getTime();
  const minutes = (): number => (clock.now().getTime() - startedMs) / 60_000;
  const process = start();
  await eventually('a contradiction', () => process.audit.status().contradiction !== null);
  // When five minutes pass, in which clients read
  const rebuiltBefore = rebuilds.count;
  while (minutes() < 5) {
    await pollProofs(process, 300);
    // Then no further attempt is made. A machine that stalls here may pass the ten minutes at once.
    if (minutes() < 10) t.is(rebuilds.count, rebuiltBefore);
  }
  // When the differing tile is gone, the next attempt ends the contradiction
  await loseTiles(readModelStore);
  await signedAt(process, 300);
  t.is(process.sequencer.problem(), null);
  await eventually('the end of the contradiction', () => process.audit.status().contradiction === null);
});
