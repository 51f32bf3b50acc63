import type { Clock, Random } from '../../event-sourcing/clock.js';
import type { Fault } from './faults.js';

/** What the three stores of a data directory have in common. */
export interface EmbeddedContext {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told when a file cannot be used any more (its disk failed, it is damaged, its thread ended): end the process. */
  readonly onFatal: (error: Error) => void;
  /** How long a write may take (milliseconds). */
  readonly writeLimitMs: number;
  /** Tests only. */
  readonly faults: readonly Fault[];
  /** Tests only: pages of 4 KiB after which the disk of a file counts as full. */
  readonly pageCountMax?: number;
}
