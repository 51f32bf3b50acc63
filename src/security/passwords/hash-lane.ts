import { Overloaded } from '../../kit/overloaded.js';
import type { HashPool } from './hash-pool.js';

/** Makes a lane with low priority. At most `max` hashes wait or run, so the lane never takes the whole pool. */
export function makeHashLane(pool: HashPool, max: number): HashPool {
  let accepted = 0;
  return {
    hash: async (input) => {
      if (accepted >= max) throw new Overloaded('too many passwords of the same kind are being checked');
      accepted += 1;
      try {
        return await pool.hash(input, 'low');
      } finally {
        accepted -= 1;
      }
    },
    hasRoom: () => accepted < max && pool.hasRoom(),
    close: () => pool.close(),
  };
}
