import test from 'ava';
import { runRawCases } from '../../support/simulation/raw/run.js';
import { givenDirectory } from '../../support/servers/embedded-directory.js';
import { startInProcess } from '../../support/servers/service-in-process.js';

test('Hostile connections keep no other client from the whole service, and none stays open', async (t) => {
  const directory = givenDirectory(t);
  const service = await startInProcess({
    directory,
    serverLimits: { headersTimeout: 1_000, requestTimeout: 1_500, connectionsCheckingInterval: 100 },
  });
  t.teardown(() => service.close());
  const { url, metrics } = service;
  const counts = await runRawCases(t, { url, metrics, cases: 60, seed: 19, lanes: 60 });
  t.is(
    [...counts.values()].reduce((sum, times) => sum + times, 0),
    60,
  );
});
