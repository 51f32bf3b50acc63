import type { JsonValue } from './domain-event.js';

/** A small record that is neither an event nor rebuildable. `version` is opaque; every write changes it. */
export interface StateRecord {
  readonly key: string;
  readonly value: JsonValue;
  readonly version: string;
  readonly expiresAt: Date | null;
}

/**
 * Stores wrapped keys, claims and counters. An acknowledged write is durable.
 * Keys are `kind/…`, at most 512 bytes. A read ends within 2 s, a write within 5 s.
 */
export interface StateStore {
  /** Returns the record; null when it is absent or expired. */
  get(key: string): Promise<StateRecord | null>;
  /**
   * Writes the value if the record's version is `expected` (null: absent or expired). A null value removes the record.
   * Returns the new version or `'removed'`; null when refused.
   * @throws OutcomeUnknown, StoreUnavailable
   */
  compareAndSet(
    key: string,
    expected: string | null,
    value: JsonValue,
    options?: { readonly expiresAt?: Date },
  ): Promise<string | null>;
  /** Returns records whose key starts with the prefix, in order of key, without expired ones. */
  list(
    prefix: string,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<readonly StateRecord[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Yields the pages of the records whose keys begin with the prefix, in order of key. @throws StoreUnavailable */
export async function* pagesOf(
  store: Pick<StateStore, 'list'>,
  prefix: string,
  limit = 200,
): AsyncGenerator<readonly StateRecord[]> {
  for (let after: { readonly after?: string } = {}; ;) {
    const page = await store.list(prefix, { limit, ...after });
    yield page;
    const last = page.at(-1);
    if (page.length < limit || last === undefined) return;
    after = { after: last.key };
  }
}

/** Yields the records of `pagesOf`, one by one. */
export async function* recordsOf(
  store: Pick<StateStore, 'list'>,
  prefix: string,
): AsyncGenerator<StateRecord> {
  for await (const page of pagesOf(store, prefix)) yield* page;
}
