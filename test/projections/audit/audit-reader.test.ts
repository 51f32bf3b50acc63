import test from 'ava';
import { projectOfFirstEvent } from '../../../projections/audit/fold-views.js';
import { makeAuditReader } from '../../../projections/audit/reader.js';
import { wordsOf } from '../../../projections/audit/words.js';
import { projections } from '../../../projections/index.js';
import { makePace } from '../../../src/kit/read-in-turns.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { makeAuditEvent } from '../../support/audit/audit-scene.js';
import { makeEveryEvent } from '../../support/audit/every-event-log.js';
import { givenHistory } from '../../support/audit/history-scene.js';
import { everyEvent } from '../../support/examples/every-event.js';
import { projectId } from '../../support/examples/ids.js';

/** Makes a log of `copies` streams of each category, whose events lie between one another at random. */
async function givenEveryEvent(seed: number, copies: number) {
  const { streams, size, append } = makeEveryEvent(copies);
  const scene = await givenHistory(seed, size, append, projectOfFirstEvent);
  const reader = makeAuditReader({ ...scene, views: projections });
  return { ...scene, reader, streams };
}

test('A stream as of a random place is the plain fold of its events up to there, for every view', async (t) => {
  const { reader, events, streams, random, history } = await givenEveryEvent(11, 6);
  t.true(events.length > 600, `${events.length} events`);
  const seen = new Set<string>();
  for (let round = 0; round < 100; round += 1) {
    const stream = streams[Math.floor(random() * streams.length)] ?? '';
    const index = Math.floor(random() * events.length);
    const size = index + 1 + Math.floor(random() * (events.length - index));
    const before = events.slice(0, index + 1).filter((event) => event.stream === stream);
    const found = await reader.streamAsOf(stream, { index }, size);
    if (before.length === 0) {
      t.is(found, null);
      continue;
    }
    const views = projections.filter(({ category }) => stream.startsWith(`${category}-`));
    const expected = views.map((view) => {
      let document: JsonObject | null = null;
      for (const event of before) document = view.evolve(document, view.codec.decode(event));
      return [view.name, document] as const;
    });
    const revision = before.length - 1;
    t.deepEqual(found, { stream, index, revision, views: Object.fromEntries(expected), set_apart: {} });
    for (const { name } of views) seen.add(name);
    // A time stands for the last event that was recorded until then.
    const time = events[index]?.recordedAt ?? new Date(0);
    const at = await history.indexAt(time, size);
    t.deepEqual(
      await reader.streamAsOf(stream, { time }, size),
      at === null ? null : await reader.streamAsOf(stream, { index: at }, size),
    );
  }
  t.deepEqual([...seen].sort(), projections.map(({ name }) => name).sort(), 'every view was compared');
});

test('A long audit stream is folded with yields to other work', async (t) => {
  const scene = await givenHistory(16, 601, async (eventStore, random) => {
    const events = Array.from({ length: 601 }, (_, n) => makeAuditEvent(random, n));
    await eventStore.append('asset-long', 'no-stream', events);
  });
  let yields = 0;
  const pace = makePace((next) => {
    yields += 1;
    setImmediate(next);
  });
  const found = await makeAuditReader({ ...scene, views: [], pace }).streamAsOf(
    'asset-long',
    { index: 600 },
    601,
  );
  t.is(found?.revision, 600);
  t.true(yields >= 12, `${yields} yields`);
});

test('A stream as of an event is unavailable while the log lacks some of the events before it', async (t) => {
  // Given a stream of 601 events, and a deposed leader of the log that has 550 of them
  const scene = await givenHistory(17, 601, async (eventStore, random) => {
    const events = Array.from({ length: 601 }, (_, n) => makeAuditEvent(random, n));
    await eventStore.append('asset-long', 'no-stream', events);
  });
  const eventStore: Pick<EventStore, 'read'> = {
    read: async (...call) => (await scene.eventStore.read(...call)).filter(({ revision }) => revision < 550n),
  };
  const reader = makeAuditReader({ ...scene, eventStore, views: [] });
  // When an auditor asks for a later state, then the reply does not show an earlier one in its place
  await t.throwsAsync(reader.streamAsOf('asset-long', { index: 600 }, 601), { instanceOf: StoreUnavailable });
  t.is((await reader.streamAsOf('asset-long', { index: 549 }, 601))?.revision, 549);
});

test('A stream without views is found with its revision, and an unknown one is not', async (t) => {
  const { reader, events } = await givenEveryEvent(12, 1);
  const last = { index: events.length - 1 };
  t.like(await reader.streamAsOf('checkout-0', last, events.length), { revision: 6, views: {} });
  t.is(await reader.streamAsOf('checkout-9', last, events.length), null);
  t.is(await reader.streamAsOf('checkout-0', { time: new Date(0) }, events.length), null);
});

test('Sealed values of a stream as of a moment are the sealed values of its events', async (t) => {
  const { reader, events } = await givenEveryEvent(13, 1);
  const registered = events.findIndex(({ type }) => type === 'UserRegistered');
  const found = await reader.streamAsOf('user-0', { index: registered }, events.length);
  const { email, nickname } = everyEvent.user.UserRegistered;
  t.like(found, { views: { users: { email, nickname } } });
  t.regex(email, /^v1\./);
});

test('The events of a project are those of the project’s streams, each with words, raw event and project', async (t) => {
  const { reader, events } = await givenEveryEvent(14, 2);
  const ofProject = [...events.entries()].filter(
    ([, { stream }]) =>
      stream === `project-${projectId}` ||
      /^(?:storage|asset|share|shareaccess|sharemail|order|checkout)-/.test(stream),
  );
  const { items, next } = await reader.events(
    { terms: { project: projectId }, from: { index: 0 }, limit: 200 },
    events.length,
  );
  t.is(next, null);
  t.deepEqual(
    items,
    ofProject.reverse().map(([index, event]) => ({
      index,
      words: wordsOf(event),
      project_id: projectId,
      event: {
        ...{ id: event.id, stream: event.stream, revision: Number(event.revision), type: event.type },
        ...{ recorded_at: event.recordedAt.toISOString(), data: event.data, metadata: { ...event.metadata } },
      },
    })),
  );
});

test('A search from and to a time or an index includes both', async (t) => {
  const { reader, events } = await givenEveryEvent(15, 1);
  const size = events.length;
  const [first, last] = [events[40]?.recordedAt, events[90]?.recordedAt];
  if (first === undefined || last === undefined) throw new Error('the log is too short');
  // An event that a clock recorded too early counts with the events before it.
  const start = events.findIndex(({ recordedAt }) => recordedAt >= first);
  const later = events.findIndex(({ recordedAt }) => recordedAt > last);
  for (const [from, to, lowest, highest] of [
    [{ index: 40 }, { index: 90 }, 40, 90],
    [{ time: first }, { time: last }, start, later - 1],
    [{ time: first }, undefined, start, size - 1],
    [undefined, { index: 10_000 }, 0, size - 1],
  ] as const) {
    const { items } = await reader.events({ terms: {}, from, to, limit: 200 }, size);
    t.is(items[0]?.index, highest);
    t.is(items.at(-1)?.index, Math.max(lowest, highest - 199));
  }
});
