import test from 'ava';
import { accessMatrix, notYetServed } from '../../src/http/access-matrix.js';
import { checkAccessMatrix } from '../../src/http/check-routes.js';
import { startTestService } from '../support/http-service.js';
import { ruleName, runAccessMatrix } from './support/access-matrix-run.js';
import { rules } from './support/access-rules.js';

test('every route is in the access matrix and has a rule in the design’s words, and neither speaks of others', async (t) => {
  const { routes } = await startTestService(t);
  t.notThrows(() => {
    checkAccessMatrix(routes);
  });
  const ruled = Object.keys(rules);
  t.deepEqual(
    routes.map(ruleName).filter((name) => !ruled.includes(name)),
    [],
  );
  t.is(ruled.length, Object.keys(accessMatrix).length);
  t.is(ruled.length, new Set([...routes.map(({ name }) => name), ...notYetServed]).size);
});

test('every route, called in every situation there is, lets through and refuses as the design says', async (t) => {
  const calls = await runAccessMatrix(t);
  t.true(calls > 5_000, `${calls}`);
});
