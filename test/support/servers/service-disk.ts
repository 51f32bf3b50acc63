import { projections } from '../../../projections/index.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../../src/event-sourcing/views/generations/generations.js';
import { realClock } from '../fakes/clock.js';
import { openStores } from './embedded-directory.js';
import { findLogProblems, findViewProblems, readLog } from './service-log.js';

/** The whole log, and the inconsistencies of the log and the views as sentences. */
export interface Inspected {
  readonly events: readonly LogEvent[];
  readonly problems: readonly string[];
}

/** Inspects the data directory of a service that has ended. */
export async function inspectDisk(directory: string): Promise<Inspected> {
  const stores = await openStores(directory);
  try {
    return await inspectStores(stores);
  } finally {
    await stores.close();
  }
}

/** Inspects the stores of processes that have ended. */
export async function inspectStores({
  readModelStore,
  eventStore,
}: {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
}): Promise<Inspected> {
  const events = await readLog(eventStore);
  const generations = makeGenerations({ projections, readModelStore, clock: realClock });
  await generations.start();
  const liveOf = (projection: (typeof projections)[number]): number => generations.record(projection).live;
  const ofViews = await findViewProblems(events, readModelStore, liveOf);
  return { events, problems: [...findLogProblems(events), ...ofViews] };
}
