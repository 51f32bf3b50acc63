import test from 'ava';
import { runRawCases } from '../../support/simulation/raw/run.js';
import { givenInProcess } from '../../support/servers/service-in-process.js';

test('Hostile connections keep no other client from the whole service, and none stays open', async (t) => {
  const { url, metrics } = await givenInProcess(t, {
    serverLimits: { headersTimeout: 1_000, requestTimeout: 1_500, connectionsCheckingInterval: 100 },
  });
  const counts = await runRawCases(t, { url, metrics, cases: 60, seed: 19, lanes: 60 });
  t.is(
    [...counts.values()].reduce((sum, times) => sum + times, 0),
    60,
  );
});
