import test from 'ava';
import { makeProjectOf } from '../../../../src/areas/audit/history/project-of.js';
import { makeLogResources } from '../../../../src/areas/audit/history/log-resources.js';
import type { EventSearch, IndexedEvent } from '../../../../src/areas/audit/history/history.js';
import {
  appendAuditEvents,
  makeAuditEvent,
  projectOfFirstEvent,
} from '../../../support/audit/audit-scene.js';
import { compareWithFolds, givenHistory, type HistoryScene } from '../../../support/audit/history-scene.js';

/** Searches page by page until the end. */
async function searchAll(
  { history, events }: HistoryScene,
  search: Omit<EventSearch, 'before'> & { readonly before?: number },
): Promise<{ readonly found: readonly IndexedEvent[]; readonly pages: readonly number[] }> {
  const found: IndexedEvent[] = [];
  const pages: number[] = [];
  for (let before: number | null = search.before ?? events.length; before !== null;) {
    const page = await history.search({ ...search, before }, events.length);
    found.push(...page.events);
    pages.push(page.events.length);
    before = page.next;
  }
  return { found, pages };
}

test('The history agrees with a plain fold over the log at random places, also where the clock was set back', async (t) => {
  await compareWithFolds(t, await givenHistory(1, 1_300), 100);
});

test('The history of a log of whole tiles agrees with a plain fold', async (t) => {
  await compareWithFolds(t, await givenHistory(2, 512), 30);
});

test('A search returns exactly the events that have all terms, newest first, in pages that join', async (t) => {
  const scene = await givenHistory(3, 1_100);
  const { events } = scene;
  const projects = new Map(
    events
      .filter(({ revision }) => revision === 0n)
      .map((first) => [first.stream, projectOfFirstEvent(first)]),
  );
  const all = [...events.entries()].map(([index, event]) => ({ index, event })).reverse();
  for (const [terms, from, before, limit] of [
    [{}, 0, 1_100, 200],
    [{}, 250, 700, 100],
    [{ stream: 'asset-7' }, 0, 1_100, 7],
    [{ type: 'OrderPaid', actor: 'user:3' }, 100, 1_000, 3],
    [{ project: 'project-2' }, 0, 1_100, 10],
    [{ project: 'project-2', stream: 'asset-none' }, 0, 1_100, 10],
  ] as const) {
    const expected = all.filter(
      ({ index, event }) =>
        index >= from &&
        index < before &&
        (!('stream' in terms) || event.stream === terms.stream) &&
        (!('type' in terms) || event.type === terms.type) &&
        (!('actor' in terms) || event.metadata.actor === terms.actor) &&
        (!('project' in terms) || projects.get(event.stream) === terms.project),
    );
    const { found, pages } = await searchAll(scene, { terms, from, before, limit });
    t.deepEqual(found, expected, JSON.stringify(terms));
    t.true(pages.every((length) => length <= limit));
  }
});

test('A search shows no event at or beyond the signed size', async (t) => {
  const { history, events } = await givenHistory(4, 600);
  const page = await history.search({ terms: {}, from: 0, before: 600, limit: 5 }, 300);
  t.deepEqual(
    page.events.map(({ index }) => index),
    [299, 298, 297, 296, 295],
  );
  t.deepEqual(page.events[0]?.event, events[299]);
});

test('A rare actor is found in a long log by filters, and few events are read', async (t) => {
  // Given one event of the actor near the start of a log of 16 tiles
  const revisions = new Map<string, bigint>();
  const scene = await givenHistory(5, 4_200, async (eventStore, random) => {
    await appendAuditEvents(eventStore, random, 299, revisions);
    const event = makeAuditEvent(random, 299);
    const rare = { ...event, metadata: { ...event.metadata, actor: 'user:rare' } };
    await eventStore.append('asset-rare', 'no-stream', [rare]);
    await appendAuditEvents(eventStore, random, 3_900, revisions);
  });
  // When it is searched for
  const { found } = await searchAll(scene, { terms: { actor: 'user:rare' }, from: 0, limit: 50 });
  // Then the reads are those of the last, partial tile and of the tile that holds it
  t.deepEqual(
    found.map(({ index }) => index),
    [299],
  );
  t.true(scene.calls.filters < 2 * 16, `${scene.calls.filters} filters were read`);
  t.true(scene.calls.events <= 3, `${scene.calls.events} tiles were read`);
  // The revision of its stream at the end of the log takes no more reads
  scene.calls.events = 0;
  t.is(await scene.history.revisionAt('asset-rare', 4_199, 4_200), 0n);
  t.true(scene.calls.events <= 3, `${scene.calls.events} tiles were read`);
});

test('A stream exists from its first event on, also where that is the first or the last event of a tile', async (t) => {
  // Given 700 streams of one event each
  const { history, events } = await givenHistory(8, 700, async (eventStore, random) => {
    for (let number = 0; number < 700; number += 1) {
      await eventStore.append(`asset-${number}`, 'no-stream', [makeAuditEvent(random, number)]);
    }
  });
  for (const first of [0, 255, 256, 511, 512, 699]) {
    const { stream } = events[first] ?? { stream: '' };
    t.is(await history.revisionAt(stream, first, 700), 0n);
    t.is(await history.revisionAt(stream, 699, 700), 0n);
    if (first > 0) t.is(await history.revisionAt(stream, first - 1, 700), null);
  }
});

test('A page of a search without a match reads no further tile after 200 events, and the next one goes on', async (t) => {
  // Given a log whose every tile has the type and the actor, but never together
  const revisions = new Map<string, bigint>();
  const scene = await givenHistory(6, 1_792, async (eventStore, random) => {
    for (let number = 0; number < 1_792; number += 1) {
      const event = makeAuditEvent(random, number);
      const [type, actor] = number % 2 === 0 ? ['AssetAdded', 'user:1'] : ['OrderPaid', 'user:2'];
      const expected = revisions.get('asset-1') ?? 'no-stream';
      const appended = await eventStore.append('asset-1', expected, [
        { ...event, type, metadata: { ...event.metadata, actor } },
      ]);
      revisions.set('asset-1', appended?.revision ?? 0n);
    }
  });
  const search = { terms: { type: 'AssetAdded', actor: 'user:2' }, from: 0, limit: 50 };
  const first = await scene.history.search({ ...search, before: 1_792 }, 1_792);
  t.deepEqual(first, { events: [], next: 6 * 256 });
  t.is(scene.calls.events, 1);
  // 100 events of a tile leave room for the next one
  const second = await scene.history.search({ ...search, before: 1_380 }, 1_792);
  t.deepEqual(second, { events: [], next: 4 * 256 });
  t.is(scene.calls.events, 3);
  const { pages } = await searchAll(scene, search);
  t.is(pages.length, 7);
});

test('A page of large events ends early, and the next page continues', async (t) => {
  // Given 60 events of 100 KiB
  const scene = await givenHistory(7, 60, async (eventStore, random) => {
    for (let number = 0; number < 60; number += 1) {
      const event = makeAuditEvent(random, number);
      await eventStore.append(`asset-${number}`, 'no-stream', [
        { ...event, data: { text: 'x'.repeat(100 * 1_024) } },
      ]);
    }
  });
  const { found, pages } = await searchAll(scene, { terms: {}, from: 0, limit: 200 });
  t.deepEqual(
    found.map(({ index }) => index),
    Array.from({ length: 60 }, (_, place) => 59 - place),
  );
  t.deepEqual(pages, [41, 19]);
});

test('A tile of events is read when the turn of the process has room for its events', async (t) => {
  // Given a turn without room
  const { eventStore, events } = await givenHistory(5, 300);
  const spent: number[] = [];
  let begin: () => void = () => undefined;
  const resources = makeLogResources({
    eventStore,
    tree: { tiles: () => Promise.resolve([]) },
    pace: {
      spend: ({ elements }) => {
        spent.push(elements);
        return new Promise((resolve) => {
          begin = resolve;
        });
      },
    },
  });
  // When a search reads the tile
  let found: readonly unknown[] | null = null;
  const reading = resources.events(0, 256).then((read) => {
    found = read;
  });
  await new Promise(setImmediate);
  // Then it has read nothing before it has room
  t.is(found, null);
  t.deepEqual(spent, [256 * 20]);
  begin();
  await reading;
  t.deepEqual(found, events.slice(0, 256));
});

test('A stream whose first event a deposed leader lacks for a moment keeps its project', async (t) => {
  const { events, eventStore } = await givenHistory(6, 300);
  const event = events.findLast(({ revision }) => revision > 0n);
  if (event === undefined) return t.fail('the log has too few events');
  // Given an answer without the event
  let isShort = true;
  const projectOf = makeProjectOf({
    eventStore: { read: (...call) => (isShort ? Promise.resolve([]) : eventStore.read(...call)) },
    projectOfFirst: ({ stream }) => `project of ${stream}`,
  });
  t.is(await projectOf(event), null);
  // When the log is whole again
  isShort = false;
  // Then the project is found
  t.is(await projectOf(event), `project of ${event.stream}`);
});
