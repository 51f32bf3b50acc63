import { BSON, MongoNetworkError, MongoServerError, type Document } from 'mongodb';

import type { Random } from '../../../src/kit/time/clock.js';
import type {
  DatabaseCommands,
  UpdateStatement,
  Written,
} from '../../../src/stores/mongodb/calls/commands.js';
import { NoVerdict } from '../../../src/stores/mongodb/calls/failures.js';

/** One write that took effect; the list has the order of the effects. */
export interface Effect {
  readonly collection: string;
  readonly document: Document;
}

/**
 * A model of a server behind an unreliable network. It knows the commands that the adapter uses, with their filters and
 * guards.
 */
export interface SimulatedMongoDb {
  readonly commands: DatabaseCommands;
  /** Every write that took effect, including those of requests that were lost or late. */
  readonly effects: readonly Effect[];
  readonly stored: (collection: string) => readonly Document[];
  /** Stops the faults and delivers the late requests. */
  readonly calm: () => void;
}

const commandBytesMax = 16_777_216 + 16_384;

/** Makes a model. `faults` is the share of commands that fail, in one of four random ways. */
export function makeSimulatedMongoDb({
  random,
  faults,
}: {
  readonly random: Random;
  readonly faults: number;
}): SimulatedMongoDb {
  const collections = new Map<string, Map<string, Document>>();
  const effects: Effect[] = [];
  const late: (() => void)[] = [];
  let share = faults;

  const documents = (collection: string) => {
    const found = collections.get(collection) ?? new Map<string, Document>();
    collections.set(collection, found);
    return found;
  };

  /** Refuses a command beyond the largest document and 16 KiB, as the driver and the server do. */
  function assertFits(documents: readonly Document[]): void {
    const bytes = documents.reduce((sum, document) => sum + BSON.calculateObjectSize(document), 0);
    if (bytes > commandBytesMax) throw new MongoServerError({ ok: 0, code: 10_334 });
  }

  function store(collection: string, document: Document): void {
    documents(collection).set(String(document['_id']), structuredClone(document));
    effects.push({ collection, document: structuredClone(document) });
  }

  function applyUpdate(
    collection: string,
    { q, u, upsert }: UpdateStatement,
  ): 'matched' | 'missed' | 'duplicate' {
    const id = String(q['_id']);
    const stored = documents(collection).get(id);
    if (stored !== undefined && !matches(stored, q)) return upsert ? 'duplicate' : 'missed';
    if (stored === undefined && !upsert) return 'missed';
    store(collection, { _id: id, ...u });
    return 'matched';
  }

  /** Lets other callers run, then delivers the request and returns the answer, or loses one of them. */
  async function carry<T>(effect: () => T): Promise<T> {
    await others();
    if (random() >= share) {
      const answer = effect();
      await others();
      return answer;
    }
    const luck = random();
    if (luck < 0.3) throw new MongoNetworkError('request lost');
    if (luck < 0.6) {
      late.push(effect);
      throw new MongoNetworkError('request late');
    }
    effect();
    await others();
    if (luck < 0.8) throw new NoVerdict('write concern not met');
    throw new MongoNetworkError('reply lost');
  }

  async function others(): Promise<void> {
    if (random() < 0.2) late.splice(Math.floor(random() * late.length), 1)[0]?.();
    for (let turns = Math.floor(random() * 5); turns > 0; turns -= 1) await Promise.resolve();
  }

  const commands: DatabaseCommands = {
    update: async (collection, updates) =>
      carry((): Written => {
        assertFits(updates.map(({ q, u }) => ({ q, u })));
        const results = updates.map((statement) => applyUpdate(collection, statement));
        return {
          matched: results.filter((result) => result === 'matched').length,
          duplicate: results.includes('duplicate'),
        };
      }),
    insert: async (collection, document) =>
      carry((): Written => {
        assertFits([document]);
        const duplicate = documents(collection).has(String(document['_id']));
        if (!duplicate) store(collection, document);
        return { matched: duplicate ? 0 : 1, duplicate };
      }),
    find: async (collection, filter, { limit }) =>
      carry(() =>
        [...documents(collection).values()]
          .filter((document) => matches(document, filter))
          .sort((a, b) => (String(a['_id']) < String(b['_id']) ? -1 : 1))
          .slice(0, limit)
          .map((document) => structuredClone(document)),
      ),
    aggregate: () => Promise.reject(new Error('the model does not aggregate')),
    collectionNames: async () => carry(() => [...collections.keys()]),
    create: async (collection) => {
      await carry(() => documents(collection));
    },
    createIndexes: async (collection) => {
      await carry(() => documents(collection));
    },
    confirmPrimary: async () => carry(() => undefined),
    drop: async (collection) => {
      await carry(() => collections.delete(collection));
    },
    run: async () => carry(() => ({ ok: 1 })),
  };

  return {
    commands,
    effects,
    stored: (collection) => [...documents(collection).values()],
    calm: () => {
      share = 0;
      for (const effect of late.splice(0)) effect();
    },
  };
}

/**
 * Matches a document against a filter with the operators that the adapter uses. An absent field is null, as on the
 * server.
 */
function matches(document: Document, filter: Document): boolean {
  return Object.entries(filter).every(([field, condition]: [string, unknown]) => {
    if (field === '$or') return alternatives(condition).some((alternative) => matches(document, alternative));
    return meets(document[field] ?? null, condition);
  });
}

function alternatives(condition: unknown): Document[] {
  if (!Array.isArray(condition)) throw new Error('$or takes a list');
  return condition.filter(isRecord);
}

function meets(value: unknown, condition: unknown): boolean {
  if (!isRecord(condition) || condition instanceof Date) return compare(value, condition) === 0;
  return Object.entries(condition).every(([operator, operand]) => {
    if (operator === '$in') return Array.isArray(operand) && operand.includes(value);
    const order = compare(value, operand);
    if (operator === '$ne') return order !== 0;
    if (operator === '$lt') return order !== undefined && order < 0;
    if (operator === '$gt') return order !== undefined && order > 0;
    if (operator === '$gte') return order !== undefined && order >= 0;
    throw new Error(`the model does not know ${operator}`);
  });
}

/** Compares two values. Undefined when they have different types, which only MongoDB's `$ne` matches. */
function compare(a: unknown, b: unknown): number | undefined {
  if (a === b) return 0;
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  const sameKind =
    (typeof a === 'string' && typeof b === 'string') || (typeof a === 'bigint' && typeof b === 'bigint');
  if (!sameKind) return undefined;
  return a < b ? -1 : 1;
}

function isRecord(value: unknown): value is Document {
  return typeof value === 'object' && value !== null;
}
