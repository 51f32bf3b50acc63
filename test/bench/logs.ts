import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../src/composition/system.js';
import { readOrMakeKeyFile } from '../../src/keys/rings/key-file.js';
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
    // A service that starts on existing data needs its keys beside it.
    readOrMakeKeyFile(join(directory, 'keys.json'), randomBytes);
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
