import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import test from 'ava';
import { foldViews } from '../../projections/audit/fold-views.js';
import { allViews, projections } from '../../projections/index.js';
import { readLogToHead } from '../../src/areas/audit/tree/log-until.js';
import { type QuarantinedInReplay, buildViews, replayInto } from '../../src/operating/replay/replay.js';
import type { ReplaySource } from '../../src/operating/replay/replay-source.js';
import type { LogEvent } from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { isTally } from '../../src/event-sourcing/views/projection.js';
import { exportFilesOf, writeExport } from '../support/audit/audit-export.js';
import { makeFastClock, makeSetBackClock, readWholeLog, rootOfEvents } from '../support/audit/audit-scene.js';
import { makeEveryEvent } from '../support/audit/every-event-log.js';
import { exportedOf } from '../support/audit/exported-event.js';
import { documentsIn, openReplay, replayFrom } from '../support/audit/replays.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { makeMemoryEventStore } from '../support/fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../support/fakes/memory-read-model-store.js';
import { makeDirectory } from '../support/servers/embedded-directory.js';

const seed = Number(process.env['DEEP_SEED'] ?? '20260106');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const rounds = 10 * budget;

const totalNames = new Set(allViews.filter(isTally).map(({ name }) => name));

const parent = makeDirectory();
test.after.always(() => parent.remove());

/** A log of all events of all categories, by a clock that is sometimes set back, with some events of a newer version. */
async function givenRandomLog(random: () => number): Promise<EventStore> {
  const eventStore = makeMemoryEventStore({ random, clock: makeSetBackClock(random) });
  const { append, streams } = makeEveryEvent(1 + Math.floor(random() * 8));
  await append(eventStore, random);
  eventStore.appendForeign();
  for (const stream of streams.filter(() => random() < 0.1)) {
    const last = (await eventStore.read(stream)).at(-1);
    if (last === undefined) continue;
    const { metadata, revision } = last;
    const event = { id: randomUUID(), type: 'OfANewerVersion', data: { '𝔘': [1e21, null] }, metadata };
    await eventStore.append(stream, revision, [event]);
  }
  return eventStore;
}

test(`Replays of ${rounds} random logs, and of exports of them, have the live views and the folds of their streams`, async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  let [documents, quarantined] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const eventStore = await givenRandomLog(random);
    const events = await readWholeLog(eventStore);
    const source: ReplaySource = {
      origin: { kind: 'log', log_id: await eventStore.logId() },
      parts: () => readLogToHead(eventStore),
      close: () => Promise.resolve(),
    };
    const folder = (name: string): string => join(parent.directory, `${round}-${name}`);
    const options = { streamPrefix: 'stowage.', onShare: () => undefined };
    // To the head, a replay has the views that projectors of a service have
    const live = makeMemoryReadModelStore();
    const clock = makeFastClock(1);
    const liveQuarantined = await buildViews(
      { eventStore, readModelStore: live, clock, random },
      () => undefined,
    );
    const whole = await replayInto(source, folder('whole'), { ...options, until: null });
    const liveDocuments = await documentsIn(live, () => 1);
    const place = `seed ${seed}, round ${round}`;
    const without = quarantinedNames(liveQuarantined, Object.keys(liveDocuments));
    t.deepEqual(except(without, await documentsOf(folder('whole'))), except(without, liveDocuments), place);
    t.deepEqual(sorted(whole.quarantined), sorted(liveQuarantined), place);
    t.is(whole.root, rootOfEvents(events).toString('base64'), place);
    documents += Object.keys(liveDocuments).length;
    quarantined += liveQuarantined.length;
    // and until a random index or time, from the log and from an export, the folds of the streams
    const index = Math.floor(random() * events.length);
    const time = events[index]?.recordedAt ?? new Date(0);
    const until = random() < 0.5 ? { index } : { time };
    const later = events.findIndex(({ recordedAt }) => recordedAt > time);
    const count = 'index' in until ? index + 1 : later < 0 ? events.length : later;
    writeExport(folder('export'), exportFilesOf(events.map(exportedOf)));
    await replayInto(source, folder('log'), { ...options, until });
    await replayFrom('/nowhere', folder('exported'), { from: folder('export'), until });
    const [fromLog, fromExport] = [await documentsOf(folder('log')), await documentsOf(folder('exported'))];
    t.deepEqual(except(without, fromLog), except(without, fromExport), place);
    const folds = except(without, foldsOf(events.slice(0, count)));
    t.deepEqual(withoutTotals(except(without, fromLog)), folds, `${place}, ${count} events`);
  }
  t.log(`${documents} documents, ${quarantined} streams that were quarantined`);
  // A single log may have none.
  t.true(quarantined > 0 || rounds < 10);
});

async function documentsOf(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const replay = await openReplay(folder);
  return replay.documents().finally(() => replay.close());
}

/**
 * Returns the names of the documents with a stream that has an event which cannot be decoded. How much of such a stream
 * a view shows, and a total counts, depends on the pages of the log.
 */
function quarantinedNames(
  quarantined: readonly QuarantinedInReplay[],
  names: readonly string[],
): ReadonlySet<string> {
  const ofStreams = quarantined.map(({ view, id }) => `${view}/${id}`);
  const totals = new Set(quarantined.map(({ view }) => view).filter((view) => totalNames.has(view)));
  return new Set([...ofStreams, ...names.filter((name) => totals.has(name.split('/')[0] ?? ''))]);
}

function except(
  names: ReadonlySet<string>,
  documents: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(documents).filter(([name]) => !names.has(name)));
}

function sorted(streams: readonly QuarantinedInReplay[]): readonly string[] {
  return streams.map(({ view, id, reason }) => `${view}/${id}: ${reason}`).toSorted();
}

function withoutTotals(documents: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(documents).filter(([name]) => !totalNames.has(name.split('/')[0] ?? '')),
  );
}

/** Folds each stream by itself. */
function foldsOf(events: readonly LogEvent[]): Readonly<Record<string, unknown>> {
  const folds: Record<string, unknown> = {};
  for (const stream of new Set(events.map((event) => event.stream))) {
    const ofStream = events.filter((event) => event.stream === stream);
    const revision = BigInt(ofStream.length - 1);
    for (const [name, body] of Object.entries(foldViews(projections, stream, ofStream).views)) {
      folds[`${name}/${stream.slice(stream.indexOf('-') + 1)}`] = { revision, body };
    }
  }
  return folds;
}
