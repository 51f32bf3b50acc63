import { MongoNetworkError, type Document } from 'mongodb';

import type { Random } from '../../src/event-sourcing/clock.js';
import type { Commands, UpdateStatement, Written } from '../../src/stores/mongodb/commands.js';
import { NoVerdict } from '../../src/stores/mongodb/failures.js';

/** One write that took effect, in the order of effects. */
export interface Effect {
  readonly collection: string;
  readonly document: Document;
}

/** A model of a server behind an unreliable network: the commands that the adapter uses, with their filters and guards. */
export interface SimulatedMongoDb {
  readonly commands: Commands;
  /** Every write that took effect, those of lost and late requests included. */
  readonly effects: readonly Effect[];
  readonly stored: (collection: string) => readonly Document[];
  /** No more faults, and what is late arrives. */
  readonly calm: () => void;
}

/** `faults`: the share of commands that go wrong, by one of the four ways in turn of luck. */
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

  /** Lets others run in between, then carries the request there and the answer back, or not. */
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

  const commands: Commands = {
    update: async (collection, updates) =>
      carry((): Written => {
        const results = updates.map((statement) => applyUpdate(collection, statement));
        return {
          matched: results.filter((result) => result === 'matched').length,
          duplicate: results.includes('duplicate'),
        };
      }),
    insert: async (collection, document) =>
      carry((): Written => {
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
    deleteById: async (collection, id) => {
      await carry(() => documents(collection).delete(id));
    },
    collectionNames: async () => carry(() => [...collections.keys()]),
    ensure: async (collection) => {
      await carry(() => documents(collection));
    },
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

/** The operators that the adapter uses. An absent field is null, as it is to the server. */
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

/** Undefined where the two are of different kinds, which no comparison of MongoDB's but `$ne` matches. */
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
