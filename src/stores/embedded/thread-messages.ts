import type { Failure } from './failures.js';
import type { Fault } from './faults.js';
import type { Outcome } from './transactions.js';

/** What a writing thread is started with. */
export interface ThreadData {
  readonly file: 'events' | 'read-models' | 'state';
  readonly path: string;
  readonly newLogId: string;
  /** Tests only: pages of 4 KiB after which the disk counts as full. */
  readonly pageCountMax?: number;
  readonly faults: readonly Fault[];
}

/** Requests are tuples of strings and numbers, which are the cheapest to send to another thread. */
export type ToThread<Request> =
  { readonly kind: 'piece'; readonly requests: readonly Request[] } | { readonly kind: 'close' };

export type FromThread<Reply> =
  { readonly kind: 'opened' } | { readonly kind: 'refused'; readonly failure: Failure } | Outcome<Reply>;
