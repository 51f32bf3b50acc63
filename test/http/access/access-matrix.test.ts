import test from 'ava';
import { accessMatrix } from '../../../src/http/access/access-matrix.js';
import { startTestService } from '../../support/servers/http-service.js';
import { ruleName, runAccessMatrix } from '../../support/simulation/access/access-matrix-run.js';
import { rules } from '../../support/simulation/access/access-rules.js';

test('Every route is in the access matrix and has an access rule, and neither has other entries', async (t) => {
  const { routes } = await startTestService(t);
  t.deepEqual(Object.fromEntries(routes.map(({ name, access }) => [name, access])), accessMatrix);
  t.deepEqual(routes.map(ruleName).sort(), Object.keys(rules).sort());
});

// A part of the routes times situations, the same in every run. test/deep calls all of it.
test('Routes admit and refuse callers in all kinds of situations as their access rules say', async (t) => {
  const calls = await runAccessMatrix(t, { share: 0.003, seed: 1 });
  t.true(calls > 200, `${calls}`);
});
