import test, { type ExecutionContext } from 'ava';
import { assetCodec, type AssetEvent } from '../../../src/areas/assets/domain/asset/events.js';
import { bytesOfAsset } from '../../../src/areas/assets/domain/asset/fold.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../../src/event-sourcing/views/generations/generations.js';
import { changeName, totalOf } from '../../../src/event-sourcing/views/projection.js';
import { makePending } from '../../../src/event-sourcing/views/pending-totals.js';
import type { Quarantine } from '../../../src/event-sourcing/feeding/quarantine.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { makeTotals } from '../../../src/event-sourcing/views/totals.js';
import { usageTally } from '../../../projections/assets/usage/projection.js';
import { assetDescription } from '../../support/examples/asset.js';
import { startProjector } from '../../support/kernel/projectors.js';
import { givenWorld } from '../../support/kernel/world.js';
import { recordsCollection } from '../../../src/event-sourcing/ports/records.js';
import { metadataOf } from '../../support/examples/metadata.js';

const collection = 'usage@3.1';
const projects = ['p1', 'p2', 'p3'].map((name) =>
  `00000000-0000-7000-8000-0000000000${name}`.replace('p', '0'),
);
const [first = ''] = projects;

/** @param options.notes whether the process notes what it appends, as commands do */
async function given(seed = 1, { notes = false } = {}) {
  const world = givenWorld(seed);
  const { clock, random, eventStore: log, readModelStore: documents } = world;
  const generations = makeGenerations({
    ...{ projections: [usageTally], readModelStore: documents },
    clock: { ...clock, now: () => new Date(0), steadyMs: () => 0 },
  });
  await generations.start();
  const totals = makeTotals({ generations, readModelStore: documents }, usageTally);
  const expected = new Map<string, number>();
  const sizes = new Map<string, { readonly project: string; readonly bytes: number }>();
  let made = 0;

  const append = async (assetId: string, revision: number, event: AssetEvent) => {
    made += 1;
    const id = `00000000-0000-5000-8000-${String(made).padStart(12, '0')}`;
    const metadata = metadataOf(id, 'a', clock.now().toISOString());
    const expectedRevision = revision === 0 ? 'no-stream' : BigInt(revision - 1);
    const stream = `asset-${assetId}`;
    // Another event of the append may follow the one that changes the total.
    const events = [event, { type: 'AssetRenamed', data: { name: 'a' } } as const].map((one, index) => ({
      ...{
        id: index === 0 ? id : `${id.slice(0, -12)}${'f'.repeat(4)}${id.slice(-8)}`,
        ...assetCodec.encode(one),
        metadata,
      },
    }));
    const { position } = (await log.append(stream, expectedRevision, events)) ?? { position: '' };
    const change = usageTally.changeOf(event);
    if (notes && change !== null)
      totals.appended({ ...change, position, name: changeName(stream, metadata) });
  };
  const add = async (project = first, size = 1 + Math.floor(random() * 1_000)): Promise<string> => {
    made += 1;
    const assetId = `00000000-0000-7000-9000-${String(made).padStart(12, '0')}`;
    const data = { ...assetDescription, project_id: project, size };
    await append(assetId, 0, { type: 'AssetAdded', data });
    sizes.set(assetId, { project, bytes: bytesOfAsset(data) });
    expected.set(project, (expected.get(project) ?? 0) + bytesOfAsset(data));
    return assetId;
  };
  const remove = async (assetId: string): Promise<void> => {
    const { project, bytes } = sizes.get(assetId) ?? { project: '', bytes: 0 };
    const data = { project_id: project, bytes };
    await append(assetId, 2, { type: 'AssetRemoved', data });
    sizes.delete(assetId);
    expected.set(project, (expected.get(project) ?? 0) - bytes);
  };
  const run = (readModelStore: ReadModelStore = documents) =>
    startProjector({ ...world, readModelStore }, { projection: usageTally, collection });
  const catchUp = async (readModelStore?: ReadModelStore): Promise<void> => {
    const running = run(readModelStore);
    await running.caughtUp();
    await running.stop();
  };
  const thenTotalsAreExact = async (t: ExecutionContext): Promise<void> => {
    const found = await totals.getMany(projects);
    for (const project of projects) {
      t.is(Number(found.get(project) ?? 0), expected.get(project) ?? 0, project);
    }
  };
  const live = () => [...sizes.keys()];
  return { clock, random, log, documents, totals, add, remove, run, catchUp, live, thenTotalsAreExact };
}

test('A total adds up the events of many streams', async (t) => {
  const { add, remove, catchUp, thenTotalsAreExact } = await given();
  const assets = [await add(), await add(), await add(projects[1]), await add(projects[2])];
  await remove(assets[1] ?? '');
  await remove(assets[2] ?? '');
  await catchUp();
  await thenTotalsAreExact(t);
});

test('A page that fails in the middle counts nothing, so its repetition counts each event once', async (t) => {
  // Given three assets of one project, and a store that cannot record that the second one is set aside
  const { log, documents, add, remove, thenTotalsAreExact } = await given();
  const [asset, second] = [await add(), await add(), await add()];
  // The last event of the first asset is later than the third asset.
  await remove(asset);
  let isAway = true;
  const attempt: Quarantine['attempt'] = async (id, work) => {
    if (isAway && id === second) throw new StoreUnavailable('the records are away');
    return work();
  };
  const deps = { eventStore: log, readModelStore: documents, quarantine: { attempt } };
  const pending = makePending(deps, { projection: usageTally, collection });
  const page = await log.readAll({ after: null, limit: 100 });
  // When the page is folded, what is pending is written, and the page is folded again
  await t.throwsAsync(async () => pending.fold(page), { instanceOf: StoreUnavailable });
  await pending.take()();
  isAway = false;
  await pending.fold(page);
  await pending.take()();
  // Then no event is missing
  await thenTotalsAreExact(t);
});

test('A page of the log makes one write a total, however many events it has', async (t) => {
  const { documents, add, catchUp, thenTotalsAreExact } = await given();
  for (let n = 0; n < 300; n += 1) await add(projects[n % 2]);
  let writes = 0;
  await catchUp({
    ...documents,
    write: (name, changes) => {
      writes += changes.length;
      return documents.write(name, changes);
    },
  });
  t.true(writes <= 2 * 2, `${writes} writes`);
  await thenTotalsAreExact(t);
});

test('A feeder reads a total that it did not write last, and no other', async (t) => {
  // Given a feeder at the end of the log
  const { documents, clock, add, run, thenTotalsAreExact } = await given();
  const read: (readonly string[])[] = [];
  const feeder = run({
    ...documents,
    getMany: (name, ids) => {
      if (name === collection) read.push(ids);
      return documents.getMany(name, ids);
    },
  });
  const addedTo = async (project?: string): Promise<void> => {
    await add(project);
    await clock.advance(1_000);
  };
  for (let n = 0; n < 3; n += 1) await addedTo();
  // When another total changes, and then the first one again
  await addedTo(projects[1]);
  await addedTo();
  await addedTo();
  t.deepEqual(read, [[first], [projects[1]], [first]]);
  await feeder.stop();
  await thenTotalsAreExact(t);
});

test('An event counts once: after a replay, with two feeders, and beside the changes of this process', async (t) => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const { documents, random, clock, add, remove, run, catchUp, live, thenTotalsAreExact } = await given(
      seed,
      { notes: true },
    );
    /** Loses checkpoints and interleaves calls, so that a feeder begins again from an earlier position. */
    const forgetful: ReadModelStore = {
      ...documents,
      write: async (name, writes) => {
        await clock.sleep(Math.floor(random() * 3));
        if (name === recordsCollection && random() < 0.5) return ['applied'];
        return documents.write(name, writes);
      },
    };
    const feeders = [run(forgetful), run(forgetful)];
    for (let n = 0; n < 30; n += 1) {
      const [some] = live();
      const project = projects[Math.floor(random() * 3)] ?? first;
      if (random() < 0.3 && some !== undefined) await remove(some);
      else await add(project);
      await thenTotalsAreExact(t);
      if (random() < 0.3) await clock.advance(Math.floor(random() * 2_000));
    }
    for (const feeder of feeders) await feeder.stop();
    await catchUp();
    await thenTotalsAreExact(t);
  }
});

test('A process reads what it appended before the follower has counted it, and once', async (t) => {
  const { add, remove, catchUp, thenTotalsAreExact } = await given(1, { notes: true });
  const asset = await add(first, 100);
  await thenTotalsAreExact(t);
  await catchUp();
  await thenTotalsAreExact(t);
  await remove(asset);
  await add(first, 7);
  await thenTotalsAreExact(t);
  await catchUp();
  await thenTotalsAreExact(t);
});

test('A total beyond 2^53 bytes stays exact', async (t) => {
  const { documents, add, remove, catchUp } = await given();
  const huge = 5 * 2 ** 40;
  const assets: string[] = [];
  for (let n = 0; n < 1_700; n += 1) assets.push(await add(first, huge));
  await add(first, 1);
  await catchUp();
  const expected = 1_700n * BigInt(huge + 20_480) + 20_481n;
  t.is(totalOf(await documents.get(collection, first)).bytes, String(expected));
  for (const asset of assets) await remove(asset);
  await catchUp();
  t.is(totalOf(await documents.get(collection, first)).bytes, '20481');
});
