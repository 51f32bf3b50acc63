import { logPageBytesMax } from '../../../event-sourcing/ports/event-store.js';

export interface EventStoreDbLimits {
  /** The time limit of one attempt of any call, in milliseconds. */
  readonly callMs: number;
  /** The limit of stream reads under way at once. A server accepts 100 calls on a connection. */
  readonly readsMax: number;
  /** The limit of appends under way at once. They share one call. */
  readonly appendsMax: number;
  /** The longest wait for a place among them, in milliseconds. */
  readonly placeMs: number;
  /** A read ends after the record with which it reaches this size, in bytes. */
  readonly pageBytes: number;
  /** A subscription counts as lost when it is silent for this long after the log has grown. */
  readonly silenceMs: number;
  /** The interval between polls of the end of the log, in milliseconds. */
  readonly pollMs: number;
  /** The time that the store waits for a log that ends before a position it has read, in milliseconds. */
  readonly shortLogMs: number;
}

/** The limits of src/stores/eventstoredb/README.md#calls (5 s for each attempt) and src/event-sourcing/feeding/README.md#subscriptions (1 s poll). */
export const eventStoreDbLimits: EventStoreDbLimits = {
  callMs: 5_000,
  readsMax: 80,
  appendsMax: 256,
  placeMs: 2_000,
  pageBytes: logPageBytesMax,
  silenceMs: 30_000,
  pollMs: 1_000,
  shortLogMs: 10_000,
};
