import test, { type ExecutionContext } from 'ava';
import { nodeId as unknownId } from '../../../support/examples/ids.js';
import { agentSecret, startTestService } from '../../../support/servers/http-service.js';
import { pluck } from '../../../support/given/pluck.js';
import { refuses } from '../../../support/given/project-over-http.js';

const path = '/api/v1/admin/nodes';
const agent = { 'x-agent-secret': agentSecret };

interface Node {
  readonly id: string;
  readonly status: string;
  readonly health: string;
}

async function start(t: ExecutionContext) {
  const service = await startTestService(t);
  const [operator, person] = [await service.signUpAs('operator'), await service.signUp('person')];
  const ask = (method: string, to: string, json?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    service.ask(to, {
      method,
      ...(json === undefined ? {} : { json }),
      headers: { ...operator, ...headers },
    });
  const create = async (n: number) => {
    const created = await ask('POST', path, { name: `edge-${n}`, ip_address: `192.0.2.${n}` });
    t.is(created.status, 201, created.text);
    return {
      ...(created.json as Node),
      to: created.headers.get('location') ?? '',
      tag: created.headers.get('etag') ?? '',
    };
  };
  return { ...service, operator, person, ask, create };
}

test('An operator registers, reads, changes and removes a node', async (t) => {
  const { ask, create, get } = await start(t);
  const { id, to, tag } = await create(1);
  t.is(to, `${path}/${id}`);
  const read = await ask('GET', to);
  const status = { status: 'unknown', health: 'unknown', mode: 'in_service' };
  t.like(read.json, { id, name: 'edge-1', ...status, lb_weight: 100 });
  t.is(read.headers.get('etag'), tag);
  t.is((await ask('GET', to, undefined, { 'if-none-match': tag })).status, 304);

  const changed = await ask('PATCH', to, { lb_weight: 5, note: 'rack 4' }, { 'if-match': tag });
  t.is(changed.status, 200, changed.text);
  t.like(changed.json, { lb_weight: 5, note: 'rack 4', name: 'edge-1' });
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { lb_weight: 6 } : undefined;
    t.is((await ask(method, to, body, { 'if-match': tag })).status, 412, method);
  }
  t.like((await ask('GET', to)).json, { lb_weight: 5 });
  const removed = await ask('DELETE', to, undefined, { 'if-match': changed.headers.get('etag') ?? '' });
  t.is(removed.status, 204);
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const [body, more] = [method === 'PATCH' ? {} : undefined, method === 'GET' ? {} : { 'if-match': tag }];
    t.is((await ask(method, to, body, more)).status, 404, method);
  }
  t.deepEqual((await ask('GET', path)).json, { items: [], next_cursor: null });
  t.deepEqual((await get('/api/v1/internal/peer-list', agent)).json, { items: [] });
});

test('A repeated registration with the same key is one node', async (t) => {
  const { ask } = await start(t);
  const body = { name: 'edge-1', ip_address: '192.0.2.1' };
  const first = await ask('POST', path, body, { 'idempotency-key': 'k1' });
  const second = await ask('POST', path, body, { 'idempotency-key': 'k1' });
  t.deepEqual([first.status, second.status], [201, 201]);
  t.deepEqual(second.json, first.json);
  const other = await ask('POST', path, { ...body, name: 'edge-2' }, { 'idempotency-key': 'k1' });
  t.is(other.status, 409);
  const { items } = (await ask('GET', path)).json as { items: readonly Node[] };
  t.is(items.length, 1);
});

test('Nodes are listed in pages', async (t) => {
  const { ask, create, stores } = await start(t);
  for (let n = 1; n <= 3; n += 1) {
    stores.clock.advance(1_000);
    await create(n);
  }
  const first = (await ask('GET', `${path}?limit=2`)).json as {
    items: { name: string }[];
    next_cursor: string;
  };
  t.deepEqual(pluck(first.items, 'name'), ['edge-1', 'edge-2']);
  const second = await ask('GET', `${path}?limit=2&cursor=${first.next_cursor}`);
  t.like(second.json, { next_cursor: null });
  t.deepEqual(pluck((second.json as typeof first).items, 'name'), ['edge-3']);
});

test('A mode is shown as the status while checks go on', async (t) => {
  const { ask, create, get, post, stores } = await start(t);
  const { id, to } = await create(1);
  const peer = async () => {
    const { items } = (await get('/api/v1/internal/peer-list', agent)).json as { items: readonly Node[] };
    return items[0];
  };
  const check = () => post(`/api/v1/internal/nodes/${id}/checks`, { ok: true }, agent);
  for (const mode of ['draining', 'maintenance']) {
    stores.clock.advance(60_000);
    t.like((await ask('PATCH', to, { mode })).json, { mode, status: mode });
    t.is((await check()).status, 204);
    const drained = await peer();
    t.like(drained, { status: mode, consecutive_failures: 0 });
    t.false('mode' in (drained ?? {}), 'the peer list has the fields of the contract');
  }
  t.like((await ask('GET', to)).json, { status: 'maintenance', health: 'healthy', consecutive_successes: 2 });
  const resumedAt = stores.clock.now().toISOString();
  const resumed = { status: 'healthy', status_changed_at: resumedAt };
  t.like((await ask('PATCH', to, { mode: 'in_service', note: 'back' })).json, { ...resumed, note: 'back' });
  t.like(await peer(), resumed);
});

const wrong: readonly [string, object][] = [
  ['name', { name: undefined }],
  ['name', { name: ' ' }],
  ['name', { name: 'x'.repeat(65) }],
  ['ip_address', { ip_address: 'edge.example.com' }],
  ['ip_address', { ip_address: '192.0.2' }],
  ['ip_address', { ip_address: '0x7f.1' }],
  ['ip_address', { ip_address: 'fe80::1%eth0' }],
  ['dnsprovider_record_id', { dnsprovider_record_id: 'a\u0000b' }],
  ['lb_weight', { lb_weight: 101 }],
  ['lb_weight', { lb_weight: 0.5 }],
  ['max_capacity_hint', { max_capacity_hint: -1 }],
  ['node_type', { node_type: 'big' }],
  ['note', { note: 'x'.repeat(1_001) }],
  ['status', { status: 'healthy' }],
];

test('A node with a wrong or unknown field is 400 and names the field', async (t) => {
  const { ask, create } = await start(t);
  for (const [field, changes] of wrong) {
    const refused = await ask('POST', path, { name: 'edge', ip_address: '192.0.2.1', ...changes });
    await refuses(t, refused, '400 invalid_request');
    t.regex((refused.json as { message: string }).message, new RegExp(field), JSON.stringify(changes));
  }
  const { to } = await create(1);
  for (const change of [{ mode: 'off' }, { lb_weight: null }, { lb_weight: -1 }, { ip_address: '1' }]) {
    await refuses(t, ask('PATCH', to, change), '400 invalid_request');
  }
});

test('Only operators reach nodes', async (t) => {
  const { create, person, get } = await start(t);
  const { to } = await create(1);
  t.like((await get(to, person)).json, { code: 'insufficient_role' });
  t.is((await get(to, person)).status, 403);
  t.is((await get(`${path}/${unknownId}`, person)).status, 403, 'an unknown node is not distinguishable');
  t.is((await get(to, agent)).status, 401);
  t.is((await get(to)).status, 401);
});
