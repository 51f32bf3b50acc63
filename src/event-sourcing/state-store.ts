import type { JsonValue } from './domain-event.js';

/** A small record that is neither an event nor rebuildable. `version` is opaque and new with every write. */
export interface StateRecord {
  readonly key: string;
  readonly value: JsonValue;
  readonly version: string;
  readonly expiresAt: Date | null;
}

/**
 * Wrapped keys, claims, counters: get, compare-and-set, expiry. Writes are durable when acknowledged.
 * Keys are `kind/…`, at most 512 bytes. Every call ends within 5 s (reads 2 s).
 */
export interface StateStore {
  /** The record, or null when absent or expired. */
  get(key: string): Promise<StateRecord | null>;
  /**
   * Writes the value if the record's version is still `expected` (null: absent or expired); a value of null removes it.
   * Returns the new version (or `'removed'`), or null when refused.
   * @throws OutcomeUnknown, StoreUnavailable
   */
  compareAndSet(
    key: string,
    expected: string | null,
    value: JsonValue,
    options?: { readonly expiresAt?: Date },
  ): Promise<string | null>;
  /** Records whose key starts with the prefix, in order of key, without the expired. */
  list(
    prefix: string,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<readonly StateRecord[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}
