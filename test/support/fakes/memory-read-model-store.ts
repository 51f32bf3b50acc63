import {
  assertDocumentFits,
  type DocumentQuery,
  type DocumentWrite,
  type IdQuery,
  type ReadModelStore,
  type StoredDocument,
  type WriteOutcome,
} from '../../../src/event-sourcing/ports/read-model-store.js';
import {
  isJsonObject,
  isList,
  type JsonObject,
  type JsonValue,
} from '../../../src/event-sourcing/ports/domain-event.js';
import { recordsCollection } from '../../../src/event-sourcing/ports/records.js';
import { compareUtf8 } from './compare-utf8.js';

interface Collection {
  readonly indexes: Set<string>;
  readonly documents: Map<string, StoredDocument>;
  changes: number;
}

/** Makes a model of the read-model store in memory, for simulations and as the reference of the contract suite. */
export function makeMemoryReadModelStore(): ReadModelStore {
  const collections = new Map<string, Collection>();

  /**
   * Returns the collection. An absent one reads as empty, and the first write creates it, so a drop may happen while
   * other callers write.
   */
  function collection(name: string): Collection {
    return collections.get(name) ?? { indexes: new Set(), documents: new Map(), changes: 0 };
  }

  function inOrder(name: string, descending = false): StoredDocument[] {
    const sign = descending ? -1 : 1;
    return [...collection(name).documents.values()].sort((a, b) => sign * compareUtf8(a.id, b.id));
  }

  function assertIndexed(name: string, field: string): void {
    if (collections.get(name)?.indexes.has(field) === false) throw new Error(`${name} has no index ${field}`);
  }

  function idsOf(name: string, query: IdQuery): string[] {
    assertIndexed(name, query.where.field);
    const found = inOrder(name, query.descending).filter(matches(query)).slice(0, query.limit);
    return found.map(({ id }) => id);
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
      collections.delete(name);
      return Promise.resolve();
    },
    collections: async () =>
      Promise.resolve([...collections.keys()].filter((name) => name !== recordsCollection)),
    get: async (name, id) => Promise.resolve(collection(name).documents.get(id) ?? null),
    getEach: async (names) =>
      Promise.resolve(names.map(({ collection: name, id }) => collection(name).documents.get(id) ?? null)),
    getMany: async (name, ids) => {
      const { documents } = collection(name);
      return Promise.resolve([...new Set(ids)].flatMap((id) => documents.get(id) ?? []));
    },
    find: async (name, query) => {
      if (query.where !== undefined) assertIndexed(name, query.where.field);
      return Promise.resolve(inOrder(name, query.descending).filter(matches(query)).slice(0, query.limit));
    },
    findInOrder: async (name, { orderBy, after, descending = false, limit }) => {
      const sign = descending ? -1 : 1;
      assertIndexed(name, orderBy);
      return Promise.resolve(
        inOrder(name)
          .map((document) => ({
            document,
            place: { value: stringAt(document.body, orderBy), id: document.id },
          }))
          .filter(
            ({ place }) =>
              place.value !== null && (after === undefined || sign * comparePlaces(place, after) > 0),
          )
          .sort((a, b) => sign * comparePlaces(a.place, b.place))
          .slice(0, limit)
          .map(({ document }) => document),
      );
    },
    ids: async (name, query) => Promise.resolve(idsOf(name, query)),
    getSelected: async (name, { from, ...query }) => {
      const ids = idsOf(from, query);
      const { documents } = collection(name);
      return Promise.resolve({ ids, documents: ids.flatMap((id) => documents.get(id) ?? []) });
    },
    scan: async (name, { after, limit }) =>
      Promise.resolve(
        inOrder(name)
          .filter(({ id }) => after === undefined || compareUtf8(id, after) > 0)
          .slice(0, limit),
      ),
    write: async (name, writes) => {
      if (new Set(writes.map((write) => write.document.id)).size < writes.length)
        throw new Error('a document appears more than once in one write');
      for (const { document } of writes) assertDocumentFits(document);
      const target = collection(name);
      if (writes.length > 0) collections.set(name, target);
      return Promise.resolve(writes.map((write) => apply(target, write)));
    },
    changeToken: (name) => String(collection(name).changes),
    close: async () => Promise.resolve(),
  };
}

function matches(query: DocumentQuery): (document: StoredDocument) => boolean {
  return ({ id, body }) => {
    if (body === null) return false;
    if (query.after !== undefined) {
      const order = compareUtf8(id, query.after);
      if (query.descending === true ? order >= 0 : order <= 0) return false;
    }
    const { where } = query;
    if (where === undefined) return true;
    const values = 'equals' in where ? [where.equals] : where.anyOf;
    return values.some((value) => holds(body, where.field.split('.'), value));
  };
}

/** Tells whether the dotted path leads to the string. For a list on the path or at its end, every element counts. */
function holds(value: JsonValue | undefined, path: readonly string[], equals: string): boolean {
  if (value !== undefined && isList(value)) return value.some((element) => holds(element, path, equals));
  const [field, ...rest] = path;
  if (field === undefined) return value === equals;
  return isJsonObject(value) && Object.hasOwn(value, field) && holds(value[field], rest, equals);
}

/** Returns the string at the dotted path; null when there is none. */
function stringAt(body: JsonObject | null, path: string): string | null {
  let value: JsonValue | undefined = body;
  for (const field of path.split('.'))
    value = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return typeof value === 'string' ? value : null;
}

interface Place {
  readonly value: string | null;
  readonly id: string;
}

function comparePlaces(a: Place, b: Place): number {
  return compareUtf8(a.value ?? '', b.value ?? '') || compareUtf8(a.id, b.id);
}

/** Freezes a value. Callers receive the stored documents themselves, so a caller that changes one fails. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
