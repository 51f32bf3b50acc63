import test from 'ava';
import type { NewEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { runProjector } from '../../../src/event-sourcing/feeding/projectors/projector.js';
import { quarantinedItems } from '../../../src/event-sourcing/feeding/quarantine.js';
import { counterCodec, countersProjection } from '../../support/kernel/counters.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import { givenStores } from '../../support/given/given-embedded.js';
import { foldOf, storedDocuments } from '../../support/kernel/world.js';
import { loadCheckpoint } from '../../../src/event-sourcing/ports/records.js';
import { metadataOf } from '../../support/examples/metadata.js';

const collection = 'counters@1.1';
const counters = 600;
const additions = 3;
const unreadable = 'counter-c450';

/** Appends the events of many counters in turns, so that the events of each are in several pages. One cannot be read. */
async function fillLog(log: EventStore): Promise<void> {
  for (let turn = 0; turn <= additions; turn += 1) {
    const event =
      turn === 0
        ? counterCodec.encode({ type: 'CounterOpened', data: { label: 'many' } })
        : counterCodec.encode({ type: 'CounterAdded', data: { amount: turn, operation: `o${turn}` } });
    const append = (index: number): Promise<unknown> => {
      const stream = `counter-c${index}`;
      const isUnknown = stream === unreadable && turn === 2;
      const stored: NewEvent = {
        id: `${index}-${turn}`,
        metadata: metadataOf('c'),
        ...event,
        ...(isUnknown ? { type: 'CounterPainted' } : {}),
      };
      return log.append(stream, turn === 0 ? 'no-stream' : BigInt(turn - 1), [stored]);
    };
    await Promise.all(Array.from({ length: counters }, (_, index) => append(index)));
  }
}

/** A store of a process that dies: after some writes it changes nothing any more. */
function dyingAfter(documents: ReadModelStore, writes: number): ReadModelStore {
  let left = writes;
  const alive = <Result>(change: () => Promise<Result>): Promise<Result> =>
    (left -= 1) < 0 ? Promise.reject(new Error('the process has died')) : change();
  return {
    ...documents,
    write: (...call) => alive(() => documents.write(...call)),
  };
}

test('A view is the fold of a long log after crashes between its pages, and quarantines one stream of it', async (t) => {
  const { eventStore, readModelStore } = await givenStores(t);
  await fillLog(eventStore);
  const { events } = await eventStore.readAll({ after: null, limit: 1_000_000 });
  const expected = foldOf(
    countersProjection,
    events.filter(({ stream }) => stream !== unreadable),
  );
  await readModelStore.ensureCollection(collection, countersProjection.indexes);

  const pages: number[] = [];
  const watched: EventStore = {
    ...eventStore,
    subscribe: async function* (options) {
      for await (const page of eventStore.subscribe(options)) {
        pages.push(page.events.length);
        yield page;
      }
    },
  };
  const catchUp = async (documents: ReadModelStore): Promise<'died' | 'there'> => {
    const controller = new AbortController();
    const running = runProjector(
      { eventStore: watched, readModelStore: documents, clock: realClock, random: makeSeededRandom(1) },
      { projection: countersProjection, collection },
      {
        signal: controller.signal,
        onProgress: ({ atHead }) => {
          if (atHead) controller.abort();
        },
        onRetry: (error) => t.log(error.message),
      },
    );
    try {
      await running;
      return 'there';
    } catch (error) {
      t.is(error instanceof Error ? error.message : error, 'the process has died');
      return 'died';
    }
  };

  // When the process dies at its first write, the next one at its second, and so on
  let deaths = 0;
  while ((await catchUp(dyingAfter(readModelStore, deaths))) === 'died') deaths += 1;
  // Then the last one reaches the head, and the documents are the fold
  t.true(deaths >= 3, String(deaths));
  t.true(pages.length > deaths + 1, String(pages));
  const stored = await storedDocuments(readModelStore, collection);
  t.deepEqual(
    stored.filter(({ id }) => `counter-${id}` !== unreadable),
    [...expected],
  );
  const [quarantined, ...others] = await quarantinedItems(readModelStore, collection);
  t.deepEqual([`counter-${quarantined?.id ?? ''}`, others], [unreadable, []]);
  t.is((await loadCheckpoint(readModelStore, collection))?.position, events.at(-1)?.position);
});
