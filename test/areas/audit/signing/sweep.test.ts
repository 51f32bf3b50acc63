import test from 'ava';

import { makeLogResources } from '../../../../src/areas/audit/history/log-resources.js';
import { makeSweep } from '../../../../src/areas/audit/signing/sweep.js';
import { auditCollection, makeTileStore } from '../../../../src/areas/audit/tree/tile-store.js';
import { givenAuditStores } from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';

/** A log of 700 events whose tiles are stored, and a sweep over it. */
async function given(seed: number) {
  const { clock, eventStore, readModelStore, append, start } = givenAuditStores(seed, 1_000);
  await append(700);
  const process = start();
  await eventually('the tiles are stored', () => process.sequencer.stored()?.size === 700);
  await process.stop();
  const missed = { count: 0 };
  const sweep = makeSweep({
    tiles: makeTileStore(readModelStore),
    resources: makeLogResources({ eventStore, tree: process.tree }),
    clock,
    stored: process.sequencer.stored,
    onMissing: () => (missed.count += 1),
    onRetry: () => undefined,
  });
  /** Changes one byte of a stored tile or removes it, as a person with access to the store could. */
  const tamper = async (id: string, byte: number | 'remove'): Promise<void> => {
    const documents = await readModelStore.scan(auditCollection, { limit: 1_000 });
    await readModelStore.dropCollection(auditCollection);
    await readModelStore.ensureCollection(auditCollection, []);
    for (const document of documents) {
      if (document.id === id && byte === 'remove') continue;
      const hashes = Buffer.from((document.body?.['hashes'] as string | undefined) ?? '', 'base64');
      if (document.id === id && byte !== 'remove') hashes[byte] = (hashes[byte] ?? 0) ^ 1;
      const body =
        document.id === id ? { ...document.body, hashes: hashes.toString('base64') } : document.body;
      await readModelStore.write(auditCollection, [
        { document: { ...document, body }, foldedFrom: 'whole-stream' },
      ]);
    }
  };
  return { sweep, tamper, missed };
}

const never = new AbortController().signal;

test('A sweep over tiles that follow from the log finds nothing, and reports its end', async (t) => {
  const { sweep } = await given(1);
  t.is(sweep.found().size, 0);
  t.is(await sweep.pass(never), null);
  t.like(sweep.progress(), { running: null, size: 700 });
  t.not(sweep.progress().finishedAt, null);
  t.is(sweep.found().get('sweep'), null);
});

for (const [id, byte, says] of [
  ['tile/0/0', 33, /^the event at index 1 is not the one in the tile 0\/0$/],
  ['tile/0/2', 6_000, /^the event at index 699 is not the one in the tile 0\/2$/],
  ['tile/1/0', 40, /^the tile 1\/0 holds another hash at 1 than the tiles below$/],
] as const) {
  test(`A sweep finds a changed byte in ${id}`, async (t) => {
    const { sweep, tamper } = await given(2);
    await tamper(id, byte);
    t.regex((await sweep.pass(never)) ?? '', says);
    t.regex(sweep.found().get('sweep') ?? '', says);
  });
}

test('A sweep that misses a tile asks for a rebuild', async (t) => {
  const { sweep, missed, tamper } = await given(3);
  await tamper('tile/1/0', 'remove');
  await t.throwsAsync(sweep.pass(never), { name: 'StoreUnavailable' });
  t.is(missed.count, 1);
  t.is(sweep.progress().finishedAt, null);
});
