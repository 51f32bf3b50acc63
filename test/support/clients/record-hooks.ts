import type {
  ReadModelStore,
  StoredDocument,
  WriteOutcome,
} from '../../../src/event-sourcing/ports/read-model-store.js';
import { textOf } from './service-client.js';
import { recordsCollection } from '../../../src/event-sourcing/ports/records.js';

type Read = <Result>(names: readonly string[], pass: () => Promise<Result>) => Promise<Result>;
type Write = (
  document: StoredDocument,
  pass: () => Promise<readonly WriteOutcome[]>,
) => Promise<readonly WriteOutcome[]>;

export interface RecordHooks {
  /** Runs in place of a read of records, which `pass` does. */
  readonly read?: Read;
  /** Runs in place of a write of a record, which `pass` does. */
  readonly write?: Write;
  /** As `write`, for checkpoints alone. */
  readonly save?: (
    reader: string,
    pass: () => Promise<readonly WriteOutcome[]>,
    position: string,
  ) => Promise<readonly WriteOutcome[]>;
}

/** Returns the store with hooks around its calls for records. */
export function withRecordHooks(store: ReadModelStore, hooks: RecordHooks): ReadModelStore {
  const read: Read = hooks.read ?? ((_names, pass) => pass());
  const write: Write = hooks.write ?? ((_document, pass) => pass());
  return {
    ...store,
    get: (collection, id) =>
      collection === recordsCollection
        ? read([id], () => store.get(collection, id))
        : store.get(collection, id),
    getMany: (collection, ids) =>
      collection === recordsCollection
        ? read(ids, () => store.getMany(collection, ids))
        : store.getMany(collection, ids),
    write: async (collection, writes) => {
      const pass = () => store.write(collection, writes);
      const [first] = writes;
      if (collection !== recordsCollection || first === undefined) return pass();
      const { document } = first;
      const reader = readerOf(document.id);
      if (reader === null || hooks.save === undefined || document.body === null) return write(document, pass);
      return hooks.save(reader, pass, textOf(document.body, 'position'));
    },
  };
}

/** Returns the reader whose checkpoint a record is; null for another record. */
export function readerOf(name: string): string | null {
  return name.startsWith('checkpoint/') ? name.slice('checkpoint/'.length) : null;
}

/** Returns whether a read is one of the registry of generations. */
export function isRegistry(names: readonly string[]): boolean {
  return names.some((name) => name.startsWith('generations/'));
}
