import test from 'ava';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { catchUp } from '../../../src/event-sourcing/feeding/projectors/catch-up.js';
import { type ActiveCollection, quarantineOf } from '../../../src/event-sourcing/views/pending-totals.js';
import { UndecodableEvent } from '../../../src/event-sourcing/ports/errors.js';
import { quarantinedItems } from '../../../src/event-sourcing/feeding/quarantine.js';
import { countersProjection, writeCounters } from '../../support/kernel/counters.js';
import {
  collection,
  givenProjector,
  type Scene,
  thenDocumentsAreTheFold,
} from '../../support/kernel/projectors.js';
import { loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';

const target = { projection: countersProjection, collection };

/** Runs a pass over the scene's log. Returns the number of writes that it stored together. */
async function pass(
  { log, documents, clock }: Scene,
  {
    readPage = (options) => log.readAll(options),
    isEnding = () => false,
    isBusy = () => false,
    targets = [target],
  }: {
    readonly readPage?: EventStore['readAll'];
    readonly isEnding?: () => boolean;
    /** Whether another thread writes. */
    readonly isBusy?: () => boolean;
    readonly targets?: readonly ActiveCollection[];
  } = {},
): Promise<number> {
  let writes = 0;
  await catchUp(
    {
      ...{ eventStore: log, readModelStore: documents, clock },
      readPage: async (options) => {
        const page = await readPage(options);
        const { events } = await log.readAll({ after: null, limit: 10_000 });
        return { ...page, last: events.findLast(({ position }) => position <= (page.cursor ?? '')) ?? null };
      },
      inOneWrite: async (work, { wait }) => {
        if (isBusy() && !wait) return false;
        await work();
        writes += 1;
        return true;
      },
    },
    targets,
    { isEnding, onQuarantined: () => undefined },
  );
  return writes;
}

test('One pass writes the fold of the log, and a checkpoint with which a projector goes on', async (t) => {
  const scene = await givenProjector();
  const writes = await pass(scene);
  t.is(writes, 1);
  await thenDocumentsAreTheFold(t, scene);
  // The checkpoint equals that of a projector
  const ours = await loadCheckpoint(scene.documents, collection);
  const other = await givenProjector();
  await other.catchUp();
  t.deepEqual(ours, await loadCheckpoint(other.documents, collection));

  await writeCounters(scene.log, { counters: 2, additions: 1, prefix: 'later' });
  await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
});

test('A pass goes on from the checkpoint', async (t) => {
  const scene = await givenProjector();
  await pass(scene);
  const { position } = (await loadCheckpoint(scene.documents, collection)) ?? {};
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
  const checkpoint = await loadCheckpoint(scene.documents, collection);
  t.is(checkpoint?.position, events.at(-1)?.position);
  t.true(checkpoint?.fingerprint?.includes(events.at(-1)?.id ?? 'no event'));
});

test('A pass quarantines a stream whose event it cannot read', async (t) => {
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
    (await quarantinedItems(scene.documents, collection)).map(({ id }) => id),
    ['c2'],
  );
  // A projector that can read it takes it back
  await scene.catchUp();
  t.deepEqual(await quarantinedItems(scene.documents, collection), []);
  await thenDocumentsAreTheFold(t, scene);
});

test('A long pass writes before its end, so that its memory is bounded', async (t) => {
  const scene = await givenProjector();
  const writes = await pass(scene, {
    // The 26 events have 26 MiB, and 4 batches of 2 MiB wait at most
    readPage: async (options) => ({
      ...(await scene.log.readAll({ ...options, limit: 1 })),
      bytes: 1024 * 1024,
    }),
  });
  t.is(writes, 4);
  const checkpoint = await loadCheckpoint(scene.documents, collection);
  t.is(checkpoint?.position, (await scene.log.head()) ?? undefined);
  await thenDocumentsAreTheFold(t, scene);
});

test('A pass folds on while another thread writes, until 16 batches wait', async (t) => {
  const scene = await givenProjector(7);
  let pages = 0;
  const asked: number[] = [];
  const writes = await pass(scene, {
    readPage: async (options) => {
      pages += 1;
      return { ...(await scene.log.readAll({ ...options, limit: 1 })), bytes: 1024 * 1024 };
    },
    isBusy: () => {
      asked.push(pages);
      return true;
    },
  });
  t.is(writes, 2, 'after 32 MiB, and at the head of the log');
  t.deepEqual(asked, Array.from({ length: 25 }, (_, index) => 8 + index).concat(36));
  await thenDocumentsAreTheFold(t, scene);
});

test('A pass for several collections begins at the oldest checkpoint', async (t) => {
  const scene = await givenProjector();
  await pass(scene);
  const other = 'counters@1.2';
  await scene.documents.ensureCollection(other, countersProjection.indexes);
  await pass(scene, { targets: [target, { projection: countersProjection, collection: other }] });
  await thenDocumentsAreTheFold(t, scene);
  const ids = ['c1', 'c2', 'c3', 'c4', 'c5'];
  t.deepEqual(await scene.documents.getMany(other, ids), await scene.documents.getMany(collection, ids));
  t.is((await scene.documents.getMany(other, ids)).length, ids.length);
});

test('The last checkpoint names the event before it, also when the log grows while the pass ends', async (t) => {
  const scene = await givenProjector();
  await pass(scene, {
    readPage: async (options) => {
      const page = await scene.log.readAll(options);
      await writeCounters(scene.log, { counters: 1, additions: 1, prefix: 'later' });
      return page;
    },
  });
  const checkpoint = await loadCheckpoint(scene.documents, collection);
  const { events } = await scene.log.readAll({ after: null, limit: 1_000 });
  const named = events.find(({ position }) => position === checkpoint?.position);
  t.true(checkpoint?.fingerprint?.includes(named?.id ?? 'no event'));
  await scene.catchUp();
  await thenDocumentsAreTheFold(t, scene);
});

test('Streams that are quarantined before a pass count, and the one too many ends it', async (t) => {
  const scene = await givenProjector();
  const quarantine = quarantineOf(scene.documents, collection, () => undefined);
  for (let stream = 0; stream < 100; stream += 1) {
    await quarantine.attempt(`other${stream}`, () => {
      throw new UndecodableEvent('an event of another release');
    });
  }
  const painted = pass(scene, {
    readPage: async (options) => {
      const page = await scene.log.readAll(options);
      return { ...page, events: page.events.map((event) => ({ ...event, type: 'CounterPainted' })) };
    },
  });
  await t.throwsAsync(painted, { instanceOf: UndecodableEvent });
  t.is(await loadCheckpoint(scene.documents, collection), null);
});

test('A pass that should end reads no page more', async (t) => {
  const scene = await givenProjector();
  t.is(await pass(scene, { isEnding: () => true }), 0);
  t.is(await loadCheckpoint(scene.documents, collection), null);
});
