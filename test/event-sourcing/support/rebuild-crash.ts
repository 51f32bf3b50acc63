import type { ReadModelStore } from '../../../src/event-sourcing/read-model-store.js';
import { requestRebuild } from '../../../src/event-sourcing/rebuild.js';
import { makeSeededRandom } from '../../support/clock.js';
import { countersProjection } from '../../support/counter-views.js';
import { makeMemoryEventStore } from '../../support/memory-event-store.js';
import { makeMemoryReadModelStore } from '../../support/memory-read-model-store.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import type { Fate } from './faults.js';
import { faultyReadModelStore } from './faulty-stores.js';
import { givenProcess } from './given-process.js';
import { makeVirtualClock } from './virtual-clock.js';
import { writeCounters } from './write-counters.js';

const fine: Fate = { fault: null, delayMs: 0, lateMs: 0 };
const gone: Fate = { fault: 'before', delayMs: 0, lateMs: 0 };

export interface Ending {
  /** How many operations of the process that was to crash had begun by the end. */
  readonly operations: number;
  readonly rebuilt: boolean;
  readonly right: boolean;
}

/**
 * A process announces a rebuild and crashes at its n-th operation on the read models, before or after its effect; from
 * then on nothing that it does has an effect. Another process is there from the start, or comes later.
 */
export async function crashRebuildAt(
  n: number,
  when: 'before' | 'after',
  successor: 'at once' | 'later',
): Promise<Ending> {
  const clock = makeVirtualClock();
  const random = makeSeededRandom(1);
  const eventStore = makeMemoryEventStore({ clock, random });
  const documents = makeMemoryReadModelStore();
  await writeCounters(eventStore, { counters: 3, additions: 2 });
  let operations = 0;
  let armed = false;
  const plan = (): Fate => {
    if (!armed) return fine;
    operations += 1;
    if (operations < n) return fine;
    return operations === n ? { ...gone, fault: when } : gone;
  };
  const start = (readModelStore: ReadModelStore): ReturnType<typeof givenProcess> =>
    givenProcess({ clock, random, eventStore, readModelStore, projections: [countersProjection] });

  const crashing = await start(faultyReadModelStore(documents, { clock, plan }));
  const runners = [await crashing.startProjections()];
  if (successor === 'at once') runners.push(await (await start(documents)).startProjections());
  await clock.advance(100);
  armed = true;
  await requestRebuild(crashing.generations, countersProjection, clock.now()).catch(() => null);
  await clock.advance(7_000);
  await writeCounters(eventStore, { counters: 3, additions: 1, more: true });
  await clock.advance(30_000);
  if (successor === 'later') {
    runners.push(await (await start(documents)).startProjections());
    await clock.advance(60_000);
  }
  const announced = (await documents.collections()).length > 1 || (await liveOf(documents)) > 1;
  await clock.advance(30_000);
  const live = await liveOf(documents);
  const stored = await storedDocuments(documents, `counters@1.${live}`);
  const fold = await foldOfLog(eventStore, countersProjection);
  const collections = await documents.collections();
  for (const runner of runners) await clock.run(runner.stop());
  return {
    operations,
    rebuilt: announced ? live === 2 && collections.length === 1 : live === 1,
    right: JSON.stringify(stored, asText) === JSON.stringify(fold, asText),
  };
}

async function liveOf(documents: ReadModelStore): Promise<number> {
  const record = await documents.getRecord('generations/counters@1');
  return (record?.value as { live: number }).live;
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
