import test from 'ava';
import { checkAccessMatrix } from '../../src/http/check-routes.js';
import { startTestService } from '../support/http-service.js';
import { ruleName, runAccessMatrix } from './support/access-matrix-run.js';
import { rules } from './support/access-rules.js';

test('every route is in the access matrix and has a rule in the design’s words, and neither speaks of others', async (t) => {
  const { routes } = await startTestService(t);
  t.notThrows(() => {
    checkAccessMatrix(routes);
  });
  t.deepEqual(routes.map(ruleName).sort(), Object.keys(rules).sort());
});

// A part of the product, the same in every run; test/deep calls all of it.
test('routes, called in situations of all kinds, let through and refuse as the design says', async (t) => {
  const calls = await runAccessMatrix(t, { share: 0.03, seed: 1 });
  t.true(calls > 400, `${calls}`);
});
