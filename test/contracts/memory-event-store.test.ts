import test from 'ava';
import { makeMemoryEventStore } from '../support/memory-event-store.js';
import { makeSeededRandom, realClock } from '../support/clock.js';
import { eventStoreContract } from './event-store.js';

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
