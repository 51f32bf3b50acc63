import test from 'ava';
import { inspectDisk } from '../support/servers/service-log-and-disk.js';
import { runPaymentCampaign } from './payment-campaign.js';

/*
 * Sends callbacks of all six platforms, duplicated and reordered, to the real service, which is killed repeatedly.
 * DEEP_SEED repeats the draws of a run, not its timing. DEEP_BUDGET multiplies its length.
 */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
/** The limit of one data directory. A longer run uses more directories. */
const deliveriesMax = 10_000;
const killsMax = 24;
const directories = Math.ceil(budget);
const share = Math.min(1, budget);

test('Each effect of duplicated and reordered callbacks happens once under kill -9, and no acknowledged callback is lost', async (t) => {
  t.timeout(directories * 30 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  for (let index = 0; index < directories; index += 1) {
    await runPaymentCampaign(t, {
      seed: seed + index,
      deliveries: Math.ceil(deliveriesMax * share),
      kills: Math.ceil(killsMax * share),
      processes: 1,
      environment: {},
      inspect: inspectDisk,
    });
  }
});
