import test from 'ava';

import { makeLogResources } from '../../../../src/areas/audit/history/log-resources.js';
import { makePages } from '../../../../src/areas/audit/signing/pages.js';
import { makeShortLog } from '../../../../src/event-sourcing/feeding/read-log.js';
import { makeSweep, type Sweep } from '../../../../src/areas/audit/signing/sweep.js';
import { auditCollection, makeTileStore } from '../../../../src/areas/audit/tree/tile-store.js';
import type { LogEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { StoredDocument } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { makeTestClock, type TestClock } from '../../../support/fakes/clock.js';
import { givenAuditStores } from '../../../support/audit/audit-scene.js';
import { eventually } from '../../../support/eventually.js';
import { loseTiles } from '../../../support/given/audit-signing.js';

/** A log of 700 events whose tiles are stored, and a sweep over it. */
async function given(seed: number) {
  const { eventStore, readModelStore, append, start } = givenAuditStores(seed, 1_000);
  await append(700);
  const process = start();
  await eventually('the tiles are stored', () => process.sequencer.stored()?.size === 700);
  const stored = process.sequencer.stored();
  await process.stop();
  const missed = { count: 0 };
  /** Changes what the sweep reads of the log. */
  const reading = { change: (events: readonly LogEvent[]): readonly LogEvent[] => events };
  const read: EventStore['readAll'] = async (options) => {
    const page = await eventStore.readAll(options);
    return { ...page, events: reading.change(page.events) };
  };
  const retries: Error[] = [];
  const defects: unknown[] = [];
  const time = makeTestClock();
  const sleeping = { before: (): void => undefined };
  const clock: TestClock = {
    ...time,
    sleep: (ms, signal) => {
      sleeping.before();
      return time.sleep(ms, signal);
    },
  };
  const sweep = makeSweep({
    pages: makePages({
      tiles: makeTileStore(readModelStore),
      resources: makeLogResources({ eventStore: { readAll: read }, tree: process.tree }),
      onMissing: () => (missed.count += 1),
    }),
    shortLog: makeShortLog({ clock, waitMs: 5_000 }),
    clock,
    stored: () => stored,
    onRetry: (error) => retries.push(error),
    onDefect: (error) => defects.push(error),
  });
  /** Changes one byte of a stored tile, its form, or removes it, as a person with access to the store could. */
  const tamper = async (id: string, what: number | 'remove' | 'malform'): Promise<void> => {
    const documents = await readModelStore.scan(auditCollection, { limit: 1_000 });
    await loseTiles(readModelStore);
    for (const document of documents) {
      if (document.id === id && what === 'remove') continue;
      const isChanged = document.id === id && what !== 'remove';
      const body = isChanged ? { ...document.body, hashes: changed(document.body, what) } : document.body;
      await readModelStore.write(auditCollection, [
        { document: { ...document, body }, foldedFrom: 'whole-stream' },
      ]);
    }
  };
  return { sweep, tamper, missed, reading, retries, defects, sleeping, clock };
}

function changed(body: StoredDocument['body'], what: number | 'malform'): string {
  if (what === 'malform') return 'not base64 !';
  const hashes = Buffer.from((body?.['hashes'] as string | undefined) ?? '', 'base64');
  hashes[what] = (hashes[what] ?? 0) ^ 1;
  return hashes.toString('base64');
}

const never = new AbortController().signal;
const dayMs = 24 * 60 * 60 * 1_000;

/** Runs the sweep until a condition holds. Returns what it shows then. */
async function sweepUntil(sweep: Sweep, isEnough: () => boolean) {
  const stopping = new AbortController();
  const running = sweep.run(stopping.signal);
  await eventually('the sweep is there', isEnough);
  const shown = { ...sweep.progress(), found: sweep.checked().get('sweep') };
  stopping.abort();
  await running;
  return shown;
}

test('A sweep over tiles that follow from the log finds nothing, and reports its end', async (t) => {
  const { sweep } = await given(1);
  t.is(sweep.checked().size, 0);
  t.is(await sweep.pass(never), null);
  t.like(sweep.progress(), { running: null, size: 700 });
  t.not(sweep.progress().finishedAt, null);
  t.is(sweep.checked().get('sweep'), null);
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
    t.regex(sweep.checked().get('sweep') ?? '', says);
  });
}

test('A sweep that misses a tile asks for a rebuild', async (t) => {
  const { sweep, missed, tamper } = await given(3);
  await tamper('tile/1/0', 'remove');
  await t.throwsAsync(sweep.pass(never), { name: 'StoreUnavailable' });
  t.is(missed.count, 1);
  t.is(sweep.progress().finishedAt, null);
});

test('The first sweep begins at the start, and compares at least 5,000 events a second', async (t) => {
  const { sweep, clock } = await given(4);
  const startedMs = clock.now().getTime();
  const { finishedAt } = await sweepUntil(sweep, () => sweep.progress().finishedAt !== null);
  const finishedMs = finishedAt?.getTime() ?? Infinity;
  t.true(finishedMs - startedMs <= (700 / 5_000) * 1_000, `${finishedMs - startedMs} ms`);
});

test('A sweep reports a tile of another form as a contradiction, and sweeps again the next day', async (t) => {
  // Given a tile that is no tile any more
  const { sweep, tamper, clock, sleeping } = await given(5);
  await tamper('tile/0/1', 'malform');
  // When the sweep runs for two days
  const startedMs = clock.now().getTime();
  const found: (string | null | undefined)[] = [];
  const days = new Set<number>();
  sleeping.before = () => {
    const finishedMs = sweep.progress().finishedAt?.getTime();
    if (finishedMs === undefined) return;
    days.add(Math.floor((finishedMs - startedMs) / dayMs));
    if (found.length < days.size) found.push(sweep.checked().get('sweep'));
  };
  await sweepUntil(sweep, () => days.size >= 3);
  // Then it has reported the tile each day
  t.deepEqual([...days].slice(0, 3), [0, 1, 2]);
  for (const what of found) t.regex(what ?? '', /^the tile 0\/1 cannot be compared: the document tile\/0\/1/);
});

test('A sweep reports an event that has no canonical form', async (t) => {
  const { sweep, reading } = await given(6);
  const half = JSON.parse('"\\ud800"') as string;
  reading.change = ([first, ...rest]) =>
    first === undefined ? [] : [{ ...first, data: { text: half } }, ...rest];
  t.regex(
    (await sweep.pass(never)) ?? '',
    /^the tile 0\/0 cannot be compared: an event has no canonical form/,
  );
});

test('A log that ends before the events of a tile is reported when it stays so', async (t) => {
  // Given a log without its last event
  const { sweep, reading, clock } = await given(7);
  reading.change = (events) => (events.length < 256 ? events.slice(0, -1) : events);
  // When it is read once, it may be that of a deposed leader
  await t.throwsAsync(sweep.pass(never), { name: 'LogEndsEarly' });
  t.false(sweep.checked().has('sweep'));
  // Then it is reported later
  clock.advance(5_000);
  t.is(await sweep.pass(never), 'the log ends before the events of a tile');
});

test('A failure that is no damage is reported too, because it may hide some', async (t) => {
  const { sweep, reading, defects } = await given(8);
  reading.change = () => {
    throw new RangeError('a defect');
  };
  t.is(await sweep.pass(never), 'the sweep failed: RangeError');
  t.is(defects.length, 1);
});

test('After a failure of a store the sweep begins again ten minutes later', async (t) => {
  const { sweep, reading, retries, clock } = await given(9);
  const startedMs = clock.now().getTime();
  reading.change = (events) => {
    if (retries.length === 0) throw new StoreUnavailable('away');
    return events;
  };
  const { found } = await sweepUntil(sweep, () => sweep.progress().finishedAt !== null);
  t.is(retries.length, 1);
  t.true(clock.now().getTime() - startedMs >= 10 * 60 * 1_000);
  t.is(found, null);
});
