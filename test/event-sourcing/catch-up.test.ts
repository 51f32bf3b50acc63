import test from 'ava';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { catchUp } from '../../src/event-sourcing/views/catch-up.js';
import { setApartItems } from '../../src/event-sourcing/following/set-apart.js';
import { countersProjection } from '../support/examples/counter-views.js';
import {
  collection,
  givenProjector,
  type Scene,
  thenDocumentsAreTheFold,
} from '../support/simulation/kernel/given-projector.js';
import { writeCounters } from '../support/simulation/kernel/write-counters.js';

const target = { projection: countersProjection, collection };

/** Runs a pass over the scene's log. Returns the number of writes that it stored together. */
async function pass(
  { log, documents, clock }: Scene,
  {
    readPage = (options) => log.readAll(options),
    isEnding = () => false,
  }: { readonly readPage?: EventStore['readAll']; readonly isEnding?: () => boolean } = {},
): Promise<number> {
  let writes = 0;
  await catchUp(
    {
      ...{ eventStore: log, readPage, readModelStore: documents, clock },
      inOneWrite: async (work) => {
        await work();
        writes += 1;
      },
    },
    [target],
    { isEnding, onSetApart: () => undefined },
  );
  return writes;
}

test('One pass writes the fold of the log, and a checkpoint with which a projector goes on', async (t) => {
  const scene = await givenProjector();
  const writes = await pass(scene);
  t.is(writes, 1);
  await thenDocumentsAreTheFold(t, scene);
  // The checkpoint equals that of a projector
  const ours = await scene.documents.loadCheckpoint(collection);
  const other = await givenProjector();
  await other.catchUp();
  t.deepEqual(ours, await other.documents.loadCheckpoint(collection));

  await writeCounters(scene.log, { counters: 2, additions: 1, prefix: 'later' });
  await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
});

test('A pass goes on from the checkpoint', async (t) => {
  const scene = await givenProjector();
  await pass(scene);
  const { position } = (await scene.documents.loadCheckpoint(collection)) ?? {};
  await writeCounters(scene.log, { counters: 5, additions: 3, more: true });
  const reads: unknown[] = [];
  await pass(scene, {
    readPage: (options) => {
      reads.push(options.after);
      return scene.log.readAll(options);
    },
  });
  t.deepEqual(reads, [position]);
  await thenDocumentsAreTheFold(t, scene);
});

test('Pages without the events of other categories lead to the checkpoint of whole pages', async (t) => {
  const scene = await givenProjector();
  await writeCounters(scene.log, { counters: 2, additions: 1, category: 'other' });
  await pass(scene, {
    readPage: async (options) => {
      const page = await scene.log.readAll(options);
      return { ...page, events: page.events.filter(({ stream }) => stream.startsWith('counter-')) };
    },
  });
  const { events } = await scene.log.readAll({ after: null, limit: 1_000 });
  const checkpoint = await scene.documents.loadCheckpoint(collection);
  t.is(checkpoint?.position, events.at(-1)?.position);
  t.true(checkpoint?.fingerprint?.includes(events.at(-1)?.id ?? 'no event'));
});

test('A pass sets a stream apart whose event it cannot read', async (t) => {
  const scene = await givenProjector();
  await pass(scene, {
    readPage: async (options) => {
      const page = await scene.log.readAll(options);
      const seen = (stream: string): boolean => stream === 'counter-c2';
      return {
        ...page,
        events: page.events.map((event) =>
          seen(event.stream) ? { ...event, type: 'CounterPainted' } : event,
        ),
      };
    },
  });
  t.deepEqual(
    (await setApartItems(scene.documents, collection)).map(({ id }) => id),
    ['c2'],
  );
  // A projector that can read it takes it back
  await scene.catchUp();
  t.deepEqual(await setApartItems(scene.documents, collection), []);
  await thenDocumentsAreTheFold(t, scene);
});

test('A pass that should end reads no page more', async (t) => {
  const scene = await givenProjector();
  t.is(await pass(scene, { isEnding: () => true }), 0);
  t.is(await scene.documents.loadCheckpoint(collection), null);
});
