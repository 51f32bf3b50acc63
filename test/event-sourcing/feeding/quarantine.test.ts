import test from 'ava';
import type { StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { StreamDamaged, UndecodableEvent } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { quarantinedItems } from '../../../src/event-sourcing/feeding/quarantine.js';
import { dropGeneration } from '../../../src/event-sourcing/views/generations/prune-views.js';
import { collection, givenProjector, thenDocumentsAreTheFold } from '../../support/kernel/projectors.js';
import { writeCounters } from '../../support/kernel/counters.js';
import { loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';

/** Shows the events of a log as another release or a damaged server would. */
function seenAs(
  log: EventStore,
  change: <Event extends StoredEvent>(event: Event) => Event | null,
): EventStore {
  const changed = <Event extends StoredEvent>(events: readonly Event[]): Event[] =>
    events.map(change).filter((event) => event !== null);
  return {
    ...log,
    read: async (stream, options) => changed(await log.read(stream, options)),
    subscribe: async function* (options) {
      for await (const page of log.subscribe(options)) yield { ...page, events: changed(page.events) };
    },
  };
}

/** An older release, which does not know the events of one stream from a revision on. */
function withUnknown(log: EventStore, stream: string, from: bigint): EventStore {
  return seenAs(log, (event) =>
    event.stream === stream && event.revision >= from
      ? { ...event, type: 'CounterPainted', data: { colour: 'canary' } }
      : event,
  );
}

test('A stream with an event that cannot be read is quarantined, also after a restart, and the others go on', async (t) => {
  const scene = await givenProjector();
  const { log, documents } = scene;
  const older = withUnknown(log, 'counter-c1', 2n);
  for (let start = 0; start < 2; start += 1) {
    await scene.catchUp({ eventStore: older });
    const [quarantined, ...others] = await quarantinedItems(documents, collection);
    t.deepEqual(others, []);
    t.is(quarantined?.id, 'c1');
    t.regex(quarantined?.reason ?? '', /CounterPainted .*counter-c1 at revision 2/);
    t.notRegex(quarantined?.reason ?? '', /canary/);
    t.is(await documents.get(collection, 'c1'), null, 'the page with the event adds nothing to the document');
    t.is((await documents.get(collection, 'c2'))?.revision, 4n);
    await writeCounters(log, { counters: 2, additions: 1, prefix: `later${start}` });
    await scene.catchUp({ eventStore: older });
    t.not(await documents.get(collection, `later${start}1`), null);
    t.is((await loadCheckpoint(documents, collection))?.position, (await log.head()) ?? undefined);
  }
});

test('A release that can read the event folds the stream whole and takes it back', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp({ eventStore: withUnknown(scene.log, 'counter-c1', 2n) });
  t.is((await quarantinedItems(scene.documents, collection)).length, 1);
  await scene.catchUp();
  t.deepEqual(await quarantinedItems(scene.documents, collection), []);
  await thenDocumentsAreTheFold(t, scene);
});

test('A document keeps its last revision while later events of its stream cannot be read', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp();
  const before = await scene.documents.get(collection, 'c1');
  await writeCounters(scene.log, { counters: 1, additions: 2, more: true });
  await scene.catchUp({ eventStore: withUnknown(scene.log, 'counter-c1', 5n) });
  t.deepEqual(await scene.documents.get(collection, 'c1'), before);
});

test('A damaged stream is quarantined, and is reported once', async (t) => {
  const scene = await givenProjector();
  // Given a server that has truncated and scavenged a stream
  const damaged = seenAs(scene.log, (event) =>
    event.stream === 'counter-c2' && event.revision < 3n ? null : event,
  );
  const reading: EventStore = {
    ...damaged,
    read: async (stream, options) => {
      if (stream === 'counter-c2') throw new StreamDamaged(stream, 'it lacks the event at revision 0');
      return damaged.read(stream, options);
    },
  };
  const { progress } = await scene.catchUp({ eventStore: reading });
  t.deepEqual(await quarantinedItems(scene.documents, collection), [
    { id: 'c2', reason: 'it lacks the event at revision 0' },
  ]);
  t.is(progress.at(-1)?.quarantined, 1);
  t.is((await scene.documents.get(collection, 'c1'))?.revision, 4n);
});

test('A view stops when more than 100 streams cannot be read', async (t) => {
  const scene = await givenProjector(101);
  const unknown = seenAs(scene.log, (event) => ({ ...event, type: 'CounterPainted' }));
  await t.throwsAsync(scene.clock.run(scene.run({ eventStore: unknown }).ended), {
    instanceOf: UndecodableEvent,
  });
  t.is((await quarantinedItems(scene.documents, collection)).length, 100);
});

test('A dropped generation takes the records of its streams with it', async (t) => {
  const scene = await givenProjector();
  await scene.catchUp({ eventStore: withUnknown(scene.log, 'counter-c1', 2n) });
  await dropGeneration(scene.documents, collection);
  t.deepEqual(await quarantinedItems(scene.documents, collection), []);
});
