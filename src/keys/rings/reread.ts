import type { Clock } from '../../kit/time/clock.js';
import { rereadSeconds } from './key-waiting-times.js';

/** Reads a source of keys or secrets every 30 s, until the signal aborts (src/keys/README.md#key-files). */
export async function reread(reload: () => unknown, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(rereadSeconds * 1_000, signal);
    } catch {
      return;
    }
    reload();
  }
}
