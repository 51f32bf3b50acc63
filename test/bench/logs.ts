import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../src/composition/system.js';
import { openServices } from '../../src/composition/services.js';
import { readConfig } from '../../src/config/config.js';
import { openEmbeddedStores } from '../../src/stores/embedded/open-embedded-stores.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { fillLog } from './events.js';

/** Runs a bench over a data directory whose log has the number of events, and removes the directory. */
export async function withLog<Result>(
  events: number,
  run: (directory: string) => Promise<Result>,
  fill: (eventStore: EventStore, events: number) => Promise<void> = fillLog,
): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  try {
    // A service that starts on existing data needs its keys beside it, and their canaries in the state store.
    const services = await openServices(readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' }));
    await services.close();
    const stores = await openEmbeddedStores({
      directory,
      streamPrefix: 'stowage.',
      clock: systemClock,
      random: systemRandom,
      onFatal: (error) => {
        throw error;
      },
    });
    await fill(stores.eventStore, events);
    await stores.close();
    return await run(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
