/* Runs the adapter on a model of a server that refuses commands above 16 MiB. test/servers does so on a server. */
import test from 'ava';

import { makeAttempts } from '../../../src/stores/mongodb/calls/attempts.js';
import { makeCalls } from '../../../src/stores/mongodb/calls/calls.js';
import { makeMongoDbReadModelStore } from '../../../src/stores/mongodb/documents/read-model-store.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import { makeSimulatedMongoDb } from '../../support/fakes/simulated-mongodb.js';
import { renameLargeProjects } from '../../support/given/large-projects.js';

test('A view follows the renames of 200 projects of the largest size in one page', async (t) => {
  const random = makeSeededRandom(1);
  const limits = { openMs: 600_000, readMs: 600_000, writeMs: 600_000, indexMs: 600_000 };
  const attempt = makeAttempts({ poolSize: 20, permitWaitMs: 600_000, silenceMs: 600_000 });
  const { commands } = makeSimulatedMongoDb({ random, faults: 0 });
  const store = makeMongoDbReadModelStore({
    calls: makeCalls({ clock: realClock, random, limits, attempt }),
    commands,
    random,
    close: async () => Promise.resolve(),
  });
  await renameLargeProjects(t, store);
});
