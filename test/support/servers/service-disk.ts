import { projections } from '../../../projections/index.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { makeGenerations } from '../../../src/event-sourcing/views/generations.js';
import { realClock } from '../fakes/clock.js';
import { openStores } from './embedded-directory.js';
import { findLogProblems, findViewProblems, readLog } from './service-log.js';

/**
 * Inspects the data directory of a service that has ended.
 * @returns its whole log, and the inconsistencies of the log and the views as sentences
 */
export async function inspectDisk(
  directory: string,
): Promise<{ readonly events: readonly LogEvent[]; readonly problems: readonly string[] }> {
  const stores = await openStores(directory);
  try {
    const { readModelStore, eventStore } = stores;
    const events = await readLog(eventStore);
    const generations = makeGenerations({ projections, readModelStore, clock: realClock });
    await generations.start();
    const liveOf = (projection: (typeof projections)[number]): number => generations.record(projection).live;
    const ofViews = await findViewProblems(events, readModelStore, liveOf);
    return { events, problems: [...findLogProblems(events), ...ofViews] };
  } finally {
    await stores.close();
  }
}
