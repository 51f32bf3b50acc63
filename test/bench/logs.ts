import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../src/composition/system.js';
import { readOrMakeKeyFile } from '../../src/keys/key-file.js';
import { openEmbeddedStores } from '../../src/stores/embedded/open-embedded-stores.js';
import { fillLog } from './events.js';

/** Runs a bench over a data directory whose log has so many events, and removes it. */
export async function withLog<Result>(
  events: number,
  run: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  try {
    // A service that starts on data finds its keys beside it.
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
    await fillLog(stores.eventStore, events);
    await stores.close();
    return await run(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
