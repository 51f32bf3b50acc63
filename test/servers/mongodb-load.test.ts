/* Loads the adapter beyond the connections of its pool, on the server that MONGODB_URL names. */
import test from 'ava';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { defaultMongoDbLimits } from '../../src/stores/mongodb/calls/limits.js';
import { realClock } from '../support/fakes/clock.js';
import { wholeFold } from '../support/clients/document-writes.js';
import { mongoDbUrl, openTestStores } from '../support/servers/store-servers.js';

const run = mongoDbUrl === undefined ? test.skip : test.serial;
const needs = mongoDbUrl === undefined ? ' (set MONGODB_URL to run this)' : '';
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const [roundMs, rounds] = isWhole ? [4_000, 3] : [2_000, 2];

run(
  `With 16 times as many callers as make it busy, the adapter serves at least half as many reads${needs}`,
  async (t) => {
    t.timeout(300_000);
    const { readModelStore } = await openTestStores(t, { clock: realClock, limits: defaultMongoDbLimits });
    await readModelStore.ensureCollection('v', []);
    await readModelStore.write('v', [wholeFold('a', 1n, { text: 'x'.repeat(500) })]);
    const served = async (callers: number): Promise<number> => {
      let successes = 0;
      const untilMs = performance.now() + roundMs;
      const call = async () => {
        while (performance.now() < untilMs) {
          try {
            await readModelStore.get('v', 'a');
            successes += 1;
          } catch (error) {
            if (!(error instanceof StoreUnavailable)) throw error;
          }
        }
      };
      await Promise.all(Array.from({ length: callers }, call));
      return (successes * 1_000) / roundMs;
    };
    await served(100);
    // Each round is compared with the one before it, because other work slows the machine for a while.
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [few, many] = [await served(100), await served(1_600)];
      ratios.push(many / few);
      t.log(`100 callers: ${few.toFixed(0)} reads/s, 1,600 callers: ${many.toFixed(0)} reads/s`);
    }
    t.true(
      Math.max(...ratios) >= 0.5,
      `the ratios are ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`,
    );
  },
);
