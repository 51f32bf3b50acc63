import { z } from 'zod';
import type { Dice } from './dice.js';

export type PathIds = Readonly<Record<string, string>>;

/** Ids that a caller was told of, each with those that its path needs before it. */
export interface KnownIds {
  /** Parameters of a pattern that lead to something known, as far as anything is. */
  idsFor(pattern: string, dice: Dice): PathIds;
  /** Takes the ids out of a success reply. @param params of the path that was asked */
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

/** So many of each kind are remembered, the newest. */
const mostOfAKind = 12;

export function makeKnownIds(): KnownIds {
  /** By the path of their collection: `/projects/:projectId/storages`. */
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
      // A reply about one thing comes from its own path or from its collection's.
      const collection = pattern.replace(/\/:\w+$/, '');
      const known = found.data.map(({ id }) => ({ params, id }));
      byCollection.set(collection, [...(byCollection.get(collection) ?? []), ...known].slice(-mostOfAKind));
    },
  };
}
