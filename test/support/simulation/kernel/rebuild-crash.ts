import type { ReadModelStore } from '../../../../src/event-sourcing/ports/read-model-store.js';
import { requestRebuild } from '../../../../src/event-sourcing/views/generations/rebuild.js';
import { countersProjection } from '../../examples/counter-views.js';
import { foldOfLog, storedDocuments } from './expected-documents.js';
import type { Fate } from './faults.js';
import { faultyReadModelStore } from './faulty-stores.js';
import { givenProcess } from './given-process.js';
import { writeCounters } from './write-counters.js';
import { givenWorld } from '../../given/given-world.js';
import { getRecord } from '../../../../src/event-sourcing/ports/records.js';

const fine: Fate = { fault: null, delayMs: 0, lateMs: 0 };
const gone: Fate = { fault: 'before', delayMs: 0, lateMs: 0 };

export interface Ending {
  /** The number of operations that the crashing process had begun by the end. */
  readonly operations: number;
  readonly rebuilt: boolean;
  readonly right: boolean;
}

/**
 * Announces a rebuild in a process that crashes at its n-th operation on the read models, before or after its effect.
 * From then on the process has no effect. Another process runs from the start, or starts later.
 */
export async function crashRebuildAt(
  n: number,
  when: 'before' | 'after',
  successor: 'at once' | 'later',
): Promise<Ending> {
  const world = givenWorld();
  const { clock, eventStore, readModelStore: documents } = world;
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
    givenProcess({ ...world, readModelStore, projections: [countersProjection] });

  const crashing = await start(faultyReadModelStore(documents, { clock, plan }));
  const runners = [await crashing.startProjections()];
  if (successor === 'at once') runners.push(await (await start(documents)).startProjections());
  await clock.advance(100);
  armed = true;
  await requestRebuild(crashing.generations, countersProjection, clock.now()).catch(() => null);
  await clock.advance(17_000);
  await writeCounters(eventStore, { counters: 3, additions: 1, more: true });
  await clock.advance(60_000);
  if (successor === 'later') {
    runners.push(await (await start(documents)).startProjections());
    await clock.advance(90_000);
  }
  const announced = (await documents.collections()).length > 1 || (await liveOf(documents)) > 1;
  await clock.advance(60_000);
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
  const record = await getRecord(documents, 'generations/counters@1');
  return (record?.value as { live: number }).live;
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
