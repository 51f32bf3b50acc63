import type { FileFailure } from '../files/failures.js';
import type { Fault } from './faults.js';
import type { TransactionOutcome } from './transactions.js';

/** The `workerData` of a writer thread. */
export interface ThreadData {
  readonly file: 'events' | 'read-models' | 'state';
  readonly path: string;
  readonly newLogId: string;
  /** The version that state.db has durably reached, for all threads of the directory; 0 where it is elsewhere. */
  readonly stateEnd: BigInt64Array;
  /** Tests only: the number of 4 KiB pages after which the disk counts as full. */
  readonly pageCountMax?: number;
  readonly faults: readonly Fault[];
}

/** A message to a writer thread. Requests are tuples of strings and numbers, because these cost least to send. */
export type ToThread<Request> =
  { readonly kind: 'piece'; readonly requests: readonly Request[] } | { readonly kind: 'close' };

export type FromThread<Reply> =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly failure: FileFailure }
  | TransactionOutcome<Reply>;
