import test from 'ava';
import { pino } from 'pino';
import { z } from 'zod';
import { makeAccessWorld } from '../../support/simulation/access/access-world.js';
import { ruleName } from '../../support/simulation/access/access-matrix-run.js';
import { rules, verdictOf } from '../../support/simulation/access/access-rules.js';
import { situationsFor } from '../../support/simulation/access/access-situations.js';
import { startTestService } from '../../support/servers/http-service.js';
import { makeQueryParser } from '../../../src/http/body/validate.js';
import { ignoredQuery } from '../../../src/http/route-spec.js';

test('Every call refuses a query parameter that it does not have, and pages for people ignore it', async (t) => {
  const unlimited = { limit: 1_000_000, seconds: 1 };
  const rates = { session: unlimited, api_key: unlimited };
  const service = await startTestService(t, { rates, logger: pino({ level: 'silent' }) });
  const world = await makeAccessWorld(service);
  const pages: string[] = [];
  let refused = 0;
  for (const route of service.routes) {
    // Payment platforms choose the parameters of their callbacks, and players add some to playlists.
    // The guides are a site apart, which a test may have built or not.
    if (route.raw !== undefined || /\/playlist\.m3u8$|^\/guides/.test(route.path)) continue;
    const rule = rules[ruleName(route)];
    const situation = situationsFor(route.path).find(
      (one) => rule !== undefined && verdictOf(rule, one) === 'admitted',
    );
    if (situation === undefined) return t.fail(`no caller may use ${ruleName(route)}`);
    const { path } = world.pathFor(route.path, situation);
    const takesBody = !(route.request.body instanceof z.ZodUndefined);
    const { status, json } = await service.ask(`${path}?surprise=1`, {
      method: route.method,
      headers: world.headersFor(situation),
      ...(takesBody ? { json: {} } : {}),
    });
    if (status === 200 && route.replies[200]?.mediaType === 'text/html') pages.push(route.path);
    else {
      refused += 1;
      t.is(status, 400, ruleName(route));
      t.like(json, { code: 'invalid_request' });
      t.regex((json as { message: string }).message, /^query\.surprise is unknown \(this call has /);
    }
  }
  t.deepEqual(pages.sort(), ['/', '/audit', '/docs', '/s/:token']);
  t.true(refused > 80, `${refused}`);
});

test('The refusal names the given parameter and those that the call has', (t) => {
  const read = makeQueryParser(z.object({ limit: z.string().optional(), cursor: z.string().optional() }));
  t.deepEqual(read('limit=1'), { limit: '1' });
  for (const given of ['Limit=1', 'canary', '__proto__=1', 'constructor=1', 'limit[]=1']) {
    t.throws(
      () => read(given),
      { message: `query.${given.replace(/=.*|&.*/, '')} is unknown (this call has limit, cursor)` },
      given,
    );
  }
});

test('A call that ignores its query takes a parameter that is given twice', (t) => {
  const read = makeQueryParser(ignoredQuery);
  t.deepEqual(read('utm=1&utm=2&t'), {});
});

test('The parser reads every parameter of a long query', (t) => {
  const read = makeQueryParser(z.object({ limit: z.string().optional() }));
  const gaps = '&'.repeat(1_500);
  t.deepEqual(read(`${gaps}limit=1`), { limit: '1' });
  t.throws(() => read(`${gaps}surprise=1`), { message: /^query\.surprise is unknown/ });
});
