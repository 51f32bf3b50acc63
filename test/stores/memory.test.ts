import test from 'ava';

import { readModelStoreContract } from '../contracts/read-model-store.js';
import { stateStoreContract } from '../contracts/state-store.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { makeMemoryStateStore } from '../support/memory-state-store.js';

readModelStoreContract(test, async () => Promise.resolve(makeMemoryReadModelStore()));
stateStoreContract(test, async (_, clock) => Promise.resolve(makeMemoryStateStore({ clock })));
