/*
 * Generated connections against the served process with its real limits: slow headers and bodies, pipelines, conflicting
 * lengths, huge headers, several Hosts, absolute form, broken percent-encoding, NUL, and clients that leave midway.
 */
import test from 'ava';
import { runRawCases } from '../support/simulation/raw/run.js';
import { givenService, freePort } from '../support/servers/service-process.js';

/* DEEP_SEED=<printed> replays a run; DEEP_BUDGET multiplies its length, and 1,000 connections are the least. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Math.max(1, Number(process.env['DEEP_BUDGET'] ?? 1));

test('A thousand hostile connections keep no other client from the served process, and none stays open', async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const metricsPort = await freePort();
  const service = await givenService(t, {
    // The limit of connections is the one of a service in production.
    environment: { METRICS_PORT: String(metricsPort), MAX_CONNECTIONS_PER_CLIENT: '100' },
  });
  const counts = await runRawCases(t, {
    url: service.url,
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    ...{ cases: 1_000 * budget, seed, lanes: 80 },
  });
  for (const [outcome, times] of [...counts].sort()) t.log(`${outcome}: ${times}`);
  t.is(await service.stop(), 0);
});
