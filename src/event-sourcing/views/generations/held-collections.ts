/**
 * The collections that lack the newest events because their store has no room. While a collection is held, a view folds the
 * missing events of each document that it reads: src/event-sourcing/views/README.md#a-full-disk.
 */
export interface HeldCollections {
  readonly has: (collection: string) => boolean;
  readonly hold: (collection: string) => void;
  readonly release: (collection: string) => void;
}

export function makeHeldCollections(): HeldCollections {
  const held = new Set<string>();
  return {
    has: (collection) => held.has(collection),
    hold: (collection) => {
      held.add(collection);
    },
    release: (collection) => {
      held.delete(collection);
    },
  };
}
