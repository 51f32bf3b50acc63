import type { JsonObject, JsonValue } from '../../src/event-sourcing/domain-event.js';
import type {
  Checkpoint,
  DocumentQuery,
  DocumentWrite,
  ReadModelStore,
  StoredDocument,
  VersionedRecord,
  WriteOutcome,
} from '../../src/event-sourcing/read-model-store.js';

interface Collection {
  readonly indexes: Set<string>;
  readonly documents: Map<string, StoredDocument>;
  changes: number;
}

/** The read-model store as a model in memory, for simulations and as the yardstick of the contract suite. */
export function makeMemoryReadModelStore(): ReadModelStore {
  const collections = new Map<string, Collection>();
  const checkpoints = new Map<string, Checkpoint>();
  const records = new Map<string, VersionedRecord>();
  let versions = 0;

  /** Where there is none it reads as empty, and the first write makes it: so a drop may come while others still write. */
  function collection(name: string): Collection {
    return collections.get(name) ?? { indexes: new Set(), documents: new Map(), changes: 0 };
  }

  function inOrder(name: string, descending = false): StoredDocument[] {
    const sign = descending ? -1 : 1;
    return [...collection(name).documents.values()].sort((a, b) => sign * compareIds(a.id, b.id));
  }

  function assertIndexed(name: string, field: string): void {
    if (collections.get(name)?.indexes.has(field) === false) throw new Error(`${name} has no index ${field}`);
  }

  function apply(target: Collection, { document, foldedFrom }: DocumentWrite): WriteOutcome {
    const stored = target.documents.get(document.id);
    const allowed =
      foldedFrom === 'whole-stream'
        ? stored === undefined || stored.revision < document.revision
        : stored?.revision === foldedFrom;
    if (!allowed) return 'refused';
    target.documents.set(document.id, frozen(structuredClone(document)));
    target.changes += 1;
    return 'applied';
  }

  return {
    ensureCollection: async (name, indexes) => {
      const existing = collections.get(name);
      if (existing === undefined)
        collections.set(name, { indexes: new Set(indexes), documents: new Map(), changes: 0 });
      else for (const index of indexes) existing.indexes.add(index);
      return Promise.resolve();
    },
    dropCollection: async (name) => {
      checkpoints.delete(name);
      collections.delete(name);
      return Promise.resolve();
    },
    collections: async () => Promise.resolve([...collections.keys()]),
    get: async (name, id) => Promise.resolve(collection(name).documents.get(id) ?? null),
    getMany: async (name, ids) => {
      const { documents } = collection(name);
      return Promise.resolve([...new Set(ids)].flatMap((id) => documents.get(id) ?? []));
    },
    find: async (name, query) => {
      if (query.where !== undefined) assertIndexed(name, query.where.field);
      return Promise.resolve(inOrder(name, query.descending).filter(matches(query)).slice(0, query.limit));
    },
    findInOrder: async (name, { orderBy, after, limit }) => {
      assertIndexed(name, orderBy);
      return Promise.resolve(
        inOrder(name)
          .map((document) => ({
            document,
            place: { value: stringAt(document.body, orderBy), id: document.id },
          }))
          .filter(
            ({ place }) => place.value !== null && (after === undefined || comparePlaces(place, after) > 0),
          )
          .sort((a, b) => comparePlaces(a.place, b.place))
          .slice(0, limit)
          .map(({ document }) => document),
      );
    },
    sum: async (name, { where, field, after }) => {
      const query = { where, limit: Infinity, ...(after === undefined ? {} : { after }) };
      const numbers = inOrder(name)
        .filter(matches(query))
        .map(({ body }) => body?.[field]);
      const sum = numbers.reduce<bigint>(
        (total, value) => (Number.isSafeInteger(value) ? total + BigInt(Number(value)) : total),
        0n,
      );
      return Promise.resolve({ sum, after: null });
    },
    scan: async (name, { after, limit }) =>
      Promise.resolve(
        inOrder(name)
          .filter(({ id }) => after === undefined || compareIds(id, after) > 0)
          .slice(0, limit),
      ),
    write: async (name, writes) => {
      if (new Set(writes.map((write) => write.document.id)).size < writes.length)
        throw new Error('a document appears more than once in one write');
      const target = collection(name);
      if (writes.length > 0) collections.set(name, target);
      return Promise.resolve(writes.map((write) => apply(target, write)));
    },
    changeToken: (name) => String(collection(name).changes),
    loadCheckpoint: async (name) => Promise.resolve(checkpoints.get(name) ?? null),
    saveCheckpoint: async (name, checkpoint) => {
      const stored = checkpoints.get(name);
      if (stored?.logId !== checkpoint.logId || stored.position < checkpoint.position)
        checkpoints.set(name, { ...checkpoint });
      return Promise.resolve();
    },
    getRecord: async (name) => Promise.resolve(structuredClone(records.get(name) ?? null)),
    putRecord: async (name, value, expected) => {
      if ((records.get(name)?.version ?? null) !== expected) return Promise.resolve(null);
      versions += 1;
      records.set(name, { value: structuredClone(value), version: String(versions) });
      return Promise.resolve(String(versions));
    },
    ping: async () => Promise.resolve(),
    close: async () => Promise.resolve(),
  };
}

function matches(query: DocumentQuery): (document: StoredDocument) => boolean {
  return ({ id, body }) => {
    if (body === null) return false;
    if (query.after !== undefined) {
      const order = compareIds(id, query.after);
      if (query.descending === true ? order >= 0 : order <= 0) return false;
    }
    return query.where === undefined || holds(body, query.where.field.split('.'), query.where.equals);
  };
}

/** Whether the dotted path leads to the string; a list on the way, or at its end, counts by each of its elements. */
function holds(value: JsonValue | undefined, path: readonly string[], equals: string): boolean {
  if (isList(value)) return value.some((element) => holds(element, path, equals));
  const [field, ...rest] = path;
  if (field === undefined) return value === equals;
  return isObject(value) && Object.hasOwn(value, field) && holds(value[field], rest, equals);
}

/** The string to which the dotted path leads; null where there is none. */
function stringAt(body: JsonObject | null, path: string): string | null {
  let value: JsonValue | undefined = body;
  for (const field of path.split('.'))
    value = isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return typeof value === 'string' ? value : null;
}

// `Array.isArray` does not narrow a union with readonly arrays.
function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

interface Place {
  readonly value: string | null;
  readonly id: string;
}

function comparePlaces(a: Place, b: Place): number {
  return compareIds(a.value ?? '', b.value ?? '') || compareIds(a.id, b.id);
}

/** Ids sort as their UTF-8 bytes. */
function compareIds(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Documents are handed out as they are kept: whoever would change one fails. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
