import test, { type ExecutionContext } from 'ava';
import { runPaymentCampaign } from '../deep/payment-campaign.js';
import { keyEnvironment } from '../support/servers/service-process.js';
import {
  startSuiteLog,
  makeTestDatabase,
  mongoDbSuite,
  openStoresAt,
} from '../support/servers/store-servers.js';
import { inspectStores } from '../support/servers/service-log-and-disk.js';
import { realClock } from '../support/fakes/clock.js';

/*
 * Sends callbacks of all six platforms, duplicated and reordered, to several processes on one EventStoreDB and one
 * MongoDB. The processes are killed all along and start again. DEEP_SEED repeats the draws of a run, not its timing.
 * DEEP_BUDGET=100 sends 100,000 callbacks with each number of processes; without it there are 300, with four.
 */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 0.3);
const deliveries = Math.ceil(1_000 * budget);
/** The limit of one log and database. A longer run uses more of them. */
const deliveriesMax = 10_000;
const callbacksPerKill = budget >= 1 ? 400 : 100;

mongoDbSuite(test, 'Payment callbacks reach several processes', () => {
  for (const processes of budget >= 1 ? [2, 4] : [4]) {
    test.serial(
      `Each effect of ${deliveries} callbacks happens once with ${processes} processes under kill -9`,
      async (t) => {
        const parts = Math.ceil(deliveries / deliveriesMax);
        t.timeout(parts * 30 * 60_000);
        t.log(`DEEP_SEED=${seed}`);
        for (let part = 0; part < parts; part += 1) {
          await runPart(t, processes, part);
        }
      },
    );
  }
});

async function runPart(t: ExecutionContext, processes: number, part: number): Promise<void> {
  const count = Math.min(deliveriesMax, deliveries - part * deliveriesMax);
  const log = await startSuiteLog(t);
  const { url } = await makeTestDatabase(t);
  await runPaymentCampaign(t, {
    seed: seed + part,
    deliveries: count,
    kills: Math.ceil(count / callbacksPerKill),
    processes,
    environment: {
      ...keyEnvironment,
      ...log.environment,
      MONGODB_URL: url,
      PUBLIC_URL: 'https://stowage.example.com',
    },
    inspect: async () => {
      const eventStore = log.open();
      const { readModelStore, close } = await openStoresAt(t, url, { clock: realClock });
      try {
        return await inspectStores({ eventStore, readModelStore });
      } finally {
        await eventStore.close();
        await close();
      }
    },
  });
}
