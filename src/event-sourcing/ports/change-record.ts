import type { JsonValue } from './domain-event.js';
import { OutcomeUnknown } from './errors.js';
import type { StateRecord, StateStore } from './state-store.js';

/** The key of a record, and the parser of its stored value: for example a zod schema. */
export interface RecordKind<Value> {
  readonly key: string;
  readonly schema: { readonly parse: (value: unknown) => Value };
}

/** The record that a change reads. */
export interface FoundRecord<Value> {
  readonly value: Value;
  readonly version: string;
}

/** The decision of a change: keep the record, or write a value. A null value removes the record. */
export type RecordChange<Written, Kept> =
  | { readonly keep: Kept }
  | { readonly write: JsonValue; readonly expiresAt?: Date; readonly result: Written };

/** The result of a change; null: another writer was faster at every attempt. */
type ChangedRecord<Written, Kept> =
  { readonly kept: Kept } | { readonly version: string; readonly result: Written } | null;

export interface ChangeOptions {
  /** Attempts before the change gives up. */
  readonly tries: number;
  /** The record for the first attempt, as the caller read or expects it (null: absent). Read when left out. */
  readonly first?: StateRecord | null;
  /** `retry` decides again on the stored record, so the change may apply twice. `throw` when left out. */
  readonly unknownOutcome?: 'retry' | 'throw';
}

/**
 * Changes a record of the state store by compare-and-set. When another writer was faster, it reads and decides again.
 * @param change runs once an attempt; its errors go to the caller
 * @throws StoreUnavailable; OutcomeUnknown unless `unknownOutcome` is `retry`
 */
export async function changeRecord<Value, Written, Kept>(
  store: Pick<StateStore, 'get' | 'compareAndSet'>,
  { key, schema }: RecordKind<Value>,
  change: (
    found: FoundRecord<Value> | null,
  ) => RecordChange<Written, Kept> | Promise<RecordChange<Written, Kept>>,
  { tries, first, unknownOutcome = 'throw' }: ChangeOptions,
): Promise<ChangedRecord<Written, Kept>> {
  let stored = first === undefined ? await store.get(key) : first;
  for (let attempt = 1; ; attempt += 1) {
    const found = stored === null ? null : { value: schema.parse(stored.value), version: stored.version };
    const changed = await change(found);
    if ('keep' in changed) return { kept: changed.keep };
    const { write, result, ...options } = changed;
    const version = await store
      .compareAndSet(key, found?.version ?? null, write, options)
      .catch((error: unknown) => {
        if (unknownOutcome === 'retry' && error instanceof OutcomeUnknown) return null;
        throw error;
      });
    if (version !== null) return { version, result };
    if (attempt === tries) return null;
    stored = await store.get(key);
  }
}
