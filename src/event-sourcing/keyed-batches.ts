import { Overloaded } from './errors.js';

/** Does what is asked for a key together with whatever else is asked for it before its turn. */
export type KeyedBatches<Item, Result> = (key: string, item: Item) => Promise<Result>;

interface Batch<Item, Result> {
  readonly items: Item[];
  readonly result: Promise<Result>;
}

/**
 * While one batch of a key is under way, what is asked for is collected and becomes the next: many callers share one write.
 * @param run gives the whole batch one result, or one error
 * @param waitingMax how many may wait for one key before further ones are Overloaded
 */
export function makeKeyedBatches<Item, Result>({
  run,
  waitingMax,
}: {
  readonly run: (key: string, items: readonly Item[]) => Promise<Result>;
  readonly waitingMax: number;
}): KeyedBatches<Item, Result> {
  const collecting = new Map<string, Batch<Item, Result>>();
  /** When the last batch of a key is over, whatever became of it. */
  const tails = new Map<string, Promise<void>>();

  return async (key, item) => {
    const batch = collecting.get(key) ?? begin(key);
    if (batch.items.length >= waitingMax) throw new Overloaded(`more than ${waitingMax} wait for one batch`);
    batch.items.push(item);
    return batch.result;
  };

  function begin(key: string): Batch<Item, Result> {
    const items: Item[] = [];
    const result = (tails.get(key) ?? Promise.resolve()).then(() => {
      collecting.delete(key);
      return run(key, items);
    });
    const tail = result.then(end, end);
    const batch = { items, result };
    collecting.set(key, batch);
    tails.set(key, tail);
    return batch;

    function end(): void {
      if (tails.get(key) === tail) tails.delete(key);
    }
  }
}
