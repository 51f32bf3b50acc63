import { Overloaded } from '../event-sourcing/errors.js';
import type { HashPool } from './hash-pool.js';

/**
 * A part of a pool: those who come through it never take all of it, however many they are, and all others go before them.
 * @param max hashes that may wait or be computed through it at once
 */
export function makeHashLane(pool: HashPool, max: number): HashPool {
  let accepted = 0;
  return {
    hash: async (input) => {
      if (accepted >= max) throw new Overloaded('too many passwords of the same kind are being checked');
      accepted += 1;
      try {
        return await pool.hash(input, 'patient');
      } finally {
        accepted -= 1;
      }
    },
    hasRoom: () => accepted < max && pool.hasRoom(),
    close: () => pool.close(),
  };
}
