import type { Clock, Random } from '../../../kit/time/clock.js';
import type { Fault } from '../writing/faults.js';

/** The settings that the three stores of a data directory share. */
export interface EmbeddedContext {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Receives the error that makes a file unusable: a failed disk, damage, or an ended thread. End the process. */
  readonly onFatal: (error: Error) => void;
  readonly writeLimitMs: number;
  /** The version that state.db has durably reached, which its thread raises and the thread of the log notes. */
  readonly stateEnd: BigInt64Array;
  /** Tests only: the faults to inject. */
  readonly faults: readonly Fault[];
  /** Tests only: the number of 4 KiB pages after which the disk of a file counts as full. */
  readonly pageCountMax?: number;
}
