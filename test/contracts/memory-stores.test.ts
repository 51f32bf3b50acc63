import test from 'ava';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { makeMemoryEventStore } from '../support/fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../support/fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../support/fakes/memory-state-store.js';
import { eventStoreContract } from './event-store.js';
import { readModelStoreContract } from './read-model-store.js';
import { stateStoreContract } from './state-store.js';

eventStoreContract(test, () => {
  const store = makeMemoryEventStore({ clock: realClock, random: makeSeededRandom(1) });
  return Promise.resolve({
    store,
    reopen: () => Promise.resolve(store),
    appendForeign: () => {
      store.appendForeign();
      return Promise.resolve();
    },
    close: () => store.close(),
  });
});
readModelStoreContract(test, async () => Promise.resolve(makeMemoryReadModelStore()));
stateStoreContract(test, async (_, clock) => Promise.resolve(makeMemoryStateStore({ clock })));
