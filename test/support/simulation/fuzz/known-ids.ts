import { z } from 'zod';
import type { Dice } from './dice.js';

export type PathIds = Readonly<Record<string, string>>;

/** Ids that a caller has received, each with the ids that precede it in its path. */
export interface KnownIds {
  /** Returns parameters of a pattern that lead to known resources, if any are known. */
  idsFor(pattern: string, dice: Dice): PathIds;
  /** Takes the ids out of a success reply. @param params the parameters of the requested path */
  learn(pattern: string, params: PathIds, body: unknown): void;
}

const identified = z.object({ id: z.string() });
const idsIn = z.union([
  z.object({ items: z.array(identified) }).transform(({ items }) => items),
  z.object({ data: z.object({ items: z.array(identified) }) }).transform(({ data }) => data.items),
  identified.transform((one) => [one]),
]);

interface Known {
  readonly params: PathIds;
  readonly id: string;
}

/** The number of the newest ids that are kept of each kind. */
const mostOfAKind = 12;

export function makeKnownIds(): KnownIds {
  /** The ids by the path of their collection: `/projects/:projectId/storages`. */
  const byCollection = new Map<string, readonly Known[]>();
  return {
    idsFor: (pattern, dice) => {
      for (const { index, 1: name = '' } of [...pattern.matchAll(/\/:(\w+)/g)].reverse()) {
        const known = byCollection.get(pattern.slice(0, index)) ?? [];
        if (known.length === 0) continue;
        const { params, id } = dice.pick(known);
        return { ...params, [name]: id };
      }
      return {};
    },
    learn: (pattern, params, body) => {
      const found = idsIn.safeParse(body);
      if (!found.success) return;
      // A reply about one resource comes from its path or from the path of its collection.
      const collection = pattern.replace(/\/:\w+$/, '');
      const known = found.data.map(({ id }) => ({ params, id }));
      byCollection.set(collection, [...(byCollection.get(collection) ?? []), ...known].slice(-mostOfAKind));
    },
  };
}
