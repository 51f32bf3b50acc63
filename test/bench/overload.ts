import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeServiceClient, type SignedIn } from '../support/clients/service-client.js';
import { overload, unlimitedRates } from '../support/servers/overload.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import { type Comparison, describe, median } from './measure.js';

const seconds = 30;
const openSeconds = 60;
const capacitySeconds = 5;
// More users than a tenth of the places, so that most have one or two requests at a time
const users = 120;
const goals = { health: 300, answered: 10_000, after: 5_000 };

/**
 * Measures a service with 1,200 requests in flight, and with three times the requests that it can answer, answered or not: the health, the
 * slowest answer, and the time until it is quick again.
 */
export async function benchOverload(): Promise<readonly Comparison[]> {
  const data = await makeDataDirectory();
  const limitsFile = join(data.path, 'limits.json');
  await writeFile(limitsFile, JSON.stringify(unlimitedRates));
  const environment = { LOG_LEVEL: 'silent', LIMITS_FILE: limitsFile };
  const service = await startService({ directory: data.path, port: await freePort(), environment });
  try {
    const client = makeServiceClient(service.url);
    const signedIn: SignedIn[] = [];
    for (let n = 0; n < users; n += 1)
      signedIn.push(await client.register(`ada${n}@example.org`, 'Correct-Horse-9'));
    const readMs = async (): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 20; n += 1) {
        const begun = performance.now();
        await client.get('/api/v1/auth/me', signedIn[n]?.headers);
        times.push(performance.now() - begun);
      }
      return median(times);
    };
    const beforeMs = await readMs();
    const rows: Comparison[] = [];
    const measure = async (what: string, load: Parameters<typeof overload>[2]): Promise<void> => {
      const { counts, flaws, answeredMs, healthMs } = await overload(service.url, signedIn, load);
      const ended = performance.now();
      while ((await readMs()) > 2 * beforeMs && performance.now() - ended < 60_000);
      const afterMs = performance.now() - ended;
      process.stdout.write(`${what}: ${JSON.stringify(Object.fromEntries(counts))}, ${flaws.length} flaws\n`);
      const measured = [
        row(`${what}: p50 of /healthz and /readyz`, median(healthMs), goals.health),
        row(
          `${what}: the slowest answer that is not 503`,
          answeredMs.reduce((most, ms) => Math.max(most, ms), 0),
          goals.answered,
        ),
        row(`${what}: the time after it until a read is quick again`, afterMs, goals.after),
      ];
      for (const line of measured) process.stdout.write(`${describe(line)}\n`);
      rows.push(...measured);
    };
    const { answeredMs } = await overload(service.url, signedIn, { inFlight: 32, seconds: capacitySeconds });
    const capacity = answeredMs.length / capacitySeconds;
    process.stdout.write(`the capacity: ${Math.round(capacity)} requests a second, with 32 in flight\n`);
    await measure('1,200 requests in flight', { inFlight: 1_200, seconds });
    await measure('three times the capacity, open loop', { perSecond: 3 * capacity, seconds: openSeconds });
    return rows;
  } finally {
    await service.stop();
    await data.remove();
  }
}

function row(what: string, ours: number, goal: number): Comparison {
  const ratio = ours / goal;
  return { what, anchor: 'the goal', unit: 'ms', ours, anchors: goal, ratio, goal: { atMost: 1 } };
}
