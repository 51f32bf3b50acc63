import { z } from 'zod';
import type { JsonObject, Position } from './domain-event.js';
import type { ReadModelStore, StoredDocument } from './read-model-store.js';

/**
 * The reserved collection of what processes note about the views: checkpoints, the registry, what is quarantined. A record is a
 * document of it under the usual guard, and a removed one is a tombstone. No view has this name.
 */
export const recordsCollection = 'records';

/** A small record that changes by compare-and-set of its version, which is the revision of its document. */
export interface NamedRecord {
  readonly name: string;
  readonly value: JsonObject;
  readonly version: bigint;
}

/** The position of a log up to which a reader has processed the events. */
export interface Checkpoint {
  readonly logId: string;
  readonly position: Position;
  /** Identifies our last event up to `position`, to detect a log with another one. Opaque; absent before the first. */
  readonly fingerprint?: string;
}

/** A newer release may add fields. */
const storedCheckpoint = z.object({
  ...{ log_id: z.string(), position: z.string(), fingerprint: z.string().nullable() },
});

/** Records read at once. */
const pageSize = 200;

type Reads = Pick<ReadModelStore, 'get'>;
type Changes = Pick<ReadModelStore, 'get' | 'write'>;

/** Resolves when the store answers. @throws StoreUnavailable */
export async function pingReadModels(store: Reads): Promise<void> {
  await store.get(recordsCollection, 'ping');
}

/** @throws StoreUnavailable */
export async function getRecord(store: Reads, name: string): Promise<NamedRecord | null> {
  return toRecord(await store.get(recordsCollection, name));
}

/** Returns the records that exist, by name, in one call to the store. @throws StoreUnavailable */
export async function getRecords(
  store: Pick<ReadModelStore, 'getMany'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, NamedRecord>> {
  const found = names.length === 0 ? [] : await store.getMany(recordsCollection, names);
  return new Map(
    found.flatMap((document) => toRecord(document) ?? []).map((record) => [record.name, record]),
  );
}

/** Writes the record if its version is `expected` (null: absent). Returns the new version; null when refused. */
export async function putRecord(
  store: Changes,
  name: string,
  value: JsonObject,
  expected: bigint | null,
): Promise<bigint | null> {
  if (expected !== null) return replace(store, name, value, expected);
  const stored = await store.get(recordsCollection, name);
  return stored?.body == null ? replace(store, name, value, stored?.revision ?? null) : null;
}

/** Removes the record if its version is `expected`. Returns whether it did. */
export async function removeRecord(store: Changes, name: string, expected: bigint): Promise<boolean> {
  return (await replace(store, name, null, expected)) !== null;
}

/** Removes the record at any version. Idempotent. */
export async function dropRecord(store: Changes, name: string): Promise<void> {
  for (let found = await getRecord(store, name); found !== null; found = await getRecord(store, name)) {
    await removeRecord(store, name, found.version);
  }
}

/** Returns all records whose name begins with the prefix, in order of name. They are few. */
export async function listRecords(
  store: Pick<ReadModelStore, 'scan'>,
  prefix: string,
): Promise<readonly NamedRecord[]> {
  const all: NamedRecord[] = [];
  for (let after = prefix; ;) {
    const page = await store.scan(recordsCollection, { after, limit: pageSize });
    const within = page.filter(({ id }) => id.startsWith(prefix));
    all.push(...within.flatMap((document) => toRecord(document) ?? []));
    if (within.length < pageSize) return all;
    after = within.at(-1)?.id ?? after;
  }
}

/** @param reader a collection, or the checkpoint of a reaction */
export async function loadCheckpoint(store: Reads, reader: string): Promise<Checkpoint | null> {
  const found = await getRecord(store, checkpointName(reader));
  return found === null ? null : toCheckpoint(found.value);
}

/** Returns the checkpoints that exist, by reader, in one call to the store. */
export async function loadCheckpoints(
  store: Pick<ReadModelStore, 'getMany'>,
  readers: readonly string[],
): Promise<ReadonlyMap<string, Checkpoint>> {
  const found = await getRecords(store, readers.map(checkpointName));
  return new Map(
    Array.from(found, ([name, { value }]) => [name.slice(checkpointName('').length), toCheckpoint(value)]),
  );
}

type SaveCheckpoint = (checkpoint: Checkpoint, isAgain?: boolean) => Promise<void>;

/**
 * Makes the function that moves the checkpoint of a reader forward. It ignores an earlier position of the same log, and replaces
 * one of another log. It knows what it wrote last, so a save is mostly one call to the store. `isAgain` reads the store first.
 */
export function makeSaveCheckpoint(store: Changes, reader: string): SaveCheckpoint {
  const name = checkpointName(reader);
  let known: StoredDocument | null | 'unread' = 'unread';
  return (checkpoint, isAgain = false) => {
    if (isAgain) known = 'unread';
    return save(checkpoint);
  };

  async function save({ logId, position, fingerprint }: Checkpoint): Promise<void> {
    for (;;) {
      if (known === 'unread') known = await store.get(recordsCollection, name);
      const stored = known?.body == null ? null : toCheckpoint(known.body);
      if (stored?.logId === logId && stored.position >= position) return;
      const body = { log_id: logId, position, fingerprint: fingerprint ?? null };
      const before: bigint | null = known?.revision ?? null;
      // After an error the write may have applied.
      known = 'unread';
      const revision = await replace(store, name, body, before);
      if (revision === null) continue;
      known = { id: name, revision, body };
      return;
    }
  }
}

/** Removes the checkpoint of a reader. Idempotent. */
export async function dropCheckpoint(store: Changes, reader: string): Promise<void> {
  await dropRecord(store, checkpointName(reader));
}

/** Writes over the revision (null: no document); returns the new revision, null when refused. */
async function replace(
  store: Pick<ReadModelStore, 'write'>,
  id: string,
  body: JsonObject | null,
  before: bigint | null,
): Promise<bigint | null> {
  const document = { id, revision: (before ?? 0n) + 1n, body };
  const [outcome] = await store.write(recordsCollection, [
    { document, foldedFrom: before ?? 'whole-stream' },
  ]);
  return outcome === 'applied' ? document.revision : null;
}

function checkpointName(reader: string): string {
  return `checkpoint/${reader}`;
}

function toCheckpoint(value: JsonObject): Checkpoint {
  const { log_id: logId, position, fingerprint } = storedCheckpoint.parse(value);
  return { logId, position, ...(fingerprint === null ? {} : { fingerprint }) };
}

function toRecord(document: StoredDocument | null): NamedRecord | null {
  if (document?.body == null) return null;
  return { name: document.id, value: document.body, version: document.revision };
}
