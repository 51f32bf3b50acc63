import test from 'ava';
import { codeOf, givenAudit } from '../../../support/audit/given-audit.js';

test('A path, an index or a size that the log does not have gets its error', async (t) => {
  const { sign, get, auditor } = await givenAudit(t);
  const size = await sign();
  for (const [path, status, code] of [
    ['/audit/proof', 400, 'invalid_request'],
    ['/audit/proof?index=x', 400, 'invalid_request'],
    ['/audit/proof?index=01', 400, 'invalid_request'],
    [`/audit/proof?index=${size}`, 404, 'not_found'],
    ['/audit/consistency?from=2&to=1', 400, 'invalid_request'],
    [`/audit/consistency?from=0&to=${size + 1}`, 404, 'not_found'],
    [`/audit/log/tile/0/000.p/${size + 1}`, 404, 'not_found'],
    ['/audit/log/tile/0/001', 404, 'not_found'],
    ['/audit/log/tile/3/000', 404, 'not_found'],
    ['/audit/log/tile/64/000', 400, 'invalid_request'],
    ['/audit/log/tile/0/000.p/256', 400, 'invalid_request'],
    ['/audit/log/tile/entries/0', 400, 'invalid_request'],
    ['/audit/log/events/x000/001', 400, 'invalid_request'],
    ['/audit/log/events/x001/000', 404, 'not_found'],
    ['/audit/log/nothing', 404, 'not_found'],
  ] as const) {
    t.deepEqual(codeOf(await get(path, auditor)), [status, code], path);
  }
  for (const path of [`/audit/proof?index=${size - 1}`, `/audit/log/events/000.p/${size}`]) {
    t.is((await get(path, auditor)).status, 200, path);
  }
});

test('Only auditors read the signed log', async (t) => {
  const { sign, get, auditor, owner } = await givenAudit(t);
  await sign();
  for (const path of [
    ...['/audit/status', '/audit/log/checkpoint', '/audit/log/tile/0/000.p/1', '/audit/proof?index=0'],
    ...['/audit/consistency?from=0&to=1', '/audit/log/events/000.p/1', '/audit/log/tile/entries/000.p/1'],
  ]) {
    t.deepEqual(codeOf(await get(path)), [401, 'unauthorized'], path);
    t.deepEqual(codeOf(await get(path, owner)), [403, 'insufficient_role'], path);
    t.is((await get(path, auditor)).status, 200, path);
  }
});

test('The bytes of a tile and of events may be cached for ever, and those of a checkpoint not', async (t) => {
  const { sign, get, auditor } = await givenAudit(t);
  await sign();
  for (const path of ['tile/0/000.p/2', 'tile/entries/000.p/2', 'events/000.p/2']) {
    const { headers } = await get(`/audit/log/${path}`, auditor);
    t.is(headers.get('cache-control'), 'private, max-age=31536000, immutable', path);
  }
  const tile = await get('/audit/log/tile/0/000.p/2', auditor);
  t.is(tile.headers.get('content-length'), '64');
  t.is(tile.headers.get('content-type'), 'application/octet-stream');
  t.is((await get('/audit/log/checkpoint', auditor)).headers.get('cache-control'), 'no-store');
});
