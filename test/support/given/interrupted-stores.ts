import { OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { GivenStores } from './given-stores.js';

/** Returns the stores of a process in which work comes before each command. The work knows the category of its stream. */
export function beforeCommands(
  stores: GivenStores,
  work: (category: string) => Promise<unknown> | undefined,
): GivenStores {
  const { handler } = stores;
  return {
    ...stores,
    handler: {
      ...handler,
      handle: async (target, ...rest) => {
        await work(target.aggregate.category);
        return handler.handle(target, ...rest);
      },
    },
  };
}

/** Makes the wrap of an event store whose appends have an unknown outcome, and no effect, once `left` of them are made. */
export function mortalAppends() {
  const life = { left: Infinity };
  const wrap = (store: EventStore): EventStore => ({
    ...store,
    append: (...append) => {
      if (life.left === 0) return Promise.reject(new OutcomeUnknown('gone'));
      life.left -= 1;
      return store.append(...append);
    },
  });
  return { life, wrap };
}

/** Makes the options of stores whose collections with a prefix cannot be written while it is set; '' means all. */
export function losableDocuments() {
  const lost: { prefix: string | null } = { prefix: null };
  const wrapDocuments = (store: ReadModelStore): ReadModelStore => ({
    ...store,
    write: (collection, ...write) =>
      lost.prefix !== null && collection.startsWith(lost.prefix)
        ? Promise.reject(new StoreUnavailable('away'))
        : store.write(collection, ...write),
  });
  return { lost, options: { mayLag: true, wrapDocuments } };
}
