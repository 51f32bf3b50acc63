import test from 'ava';
import { z } from 'zod';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../../src/event-sourcing/ports/state-store.js';
import { startTestHttp } from '../../../support/clients/http-app.js';
import { nodeId as unknownId } from '../../../support/examples/ids.js';
import { givenContext } from '../../../support/given/given-stores.js';
import { agentSecret, startTestService } from '../../../support/servers/http-service.js';
import { testRoute } from '../../../support/clients/test-route.js';

const headers = { 'x-agent-secret': agentSecret };
const peers = '/api/v1/internal/peer-list?node_id=none';
const checksOf = (id: string): string => `/api/v1/internal/nodes/${id}/checks`;

type Service = Awaited<ReturnType<typeof startTestService>>;

async function addNode({ commands, stores }: Pick<Service, 'commands' | 'stores'>, n = 1): Promise<string> {
  const input = { name: `edge-${n}`, ip_address: `192.0.2.${n}` };
  const time = new Date(stores.clock.now().getTime() + n);
  const { resource } = await commands.addNode(input, givenContext(n, time, 'operator'));
  return resource.id;
}

test('Two successes make a node healthy in the peer list', async (t) => {
  const service = await startTestService(t);
  const id = await addNode(service);
  const report = (json: unknown) => service.post(checksOf(id), json, headers);
  t.is((await report({ ok: true, latency_ms: 0 })).status, 204);
  service.stores.clock.advance(10_000);
  t.is((await report({ ok: true, latency_ms: 12.5, error: '' })).status, 204);
  const lastAt = service.stores.clock.now().toISOString();
  t.like((await service.get(peers, headers)).json, {
    items: [
      {
        ...{ id, status: 'healthy', consecutive_failures: 0, consecutive_successes: 2 },
        ...{ last_checked_at: lastAt, status_changed_at: lastAt },
      },
    ],
  });
});

test('A check changes the peer list and keeps its entity tag, until the status changes', async (t) => {
  const service = await startTestService(t);
  const ids = [await addNode(service, 1), await addNode(service, 2), await addNode(service, 3)];
  const list = (more: Readonly<Record<string, string>> = {}) => service.get(peers, { ...headers, ...more });
  const first = await list();
  const tag = first.headers.get('etag') ?? '';
  t.regex(tag, /^W\/".+"$/);
  await service.post(checksOf(ids[1] ?? ''), { ok: false, error: 'no route' }, headers);
  t.is((await list({ 'if-none-match': tag })).status, 304);
  const { items: shown } = (await list()).json as { items: { consecutive_failures: number }[] };
  t.deepEqual(
    shown.map((item) => item.consecutive_failures),
    [0, 1, 0],
  );
  await service.post(checksOf(ids[1] ?? ''), { ok: true }, headers);
  await service.post(checksOf(ids[1] ?? ''), { ok: true }, headers);
  t.is((await list({ 'if-none-match': tag })).status, 200);
  const tags = new Set<string>();
  for (const [place, id] of ids.entries()) {
    const reply = await service.get(`/api/v1/internal/peer-list?node_id=${id}`, headers);
    const { items } = reply.json as { items: { id: string }[] };
    t.deepEqual(
      items.map((item) => item.id),
      ids.toSpliced(place, 1),
    );
    tags.add(reply.headers.get('etag') ?? '');
  }
  t.is(tags.size, 3, 'clients with different lists have different tags');
});

test('A node that names itself in capitals is left out of its list', async (t) => {
  const service = await startTestService(t);
  const [own, other] = [await addNode(service, 1), await addNode(service, 2)];
  const { json } = await service.get(`/api/v1/internal/peer-list?node_id=${own.toUpperCase()}`, headers);
  t.deepEqual(
    (json as { items: { id: string }[] }).items.map(({ id }) => id),
    [other],
  );
});

test('A check is refused in the order of the design', async (t) => {
  const none = await startTestService(t, { agentSecrets: [] });
  t.is((await none.post(checksOf('x'), { ok: 1 })).status, 503, 'no secret is configured');
  const service = await startTestService(t);
  const id = await addNode(service);
  t.is((await service.post(checksOf('x'), { ok: 1 })).status, 401, 'no secret is presented');
  t.is((await service.post(checksOf('x'), { ok: 1 }, { 'x-agent-secret': 'wrong' })).status, 401);
  t.is((await service.post(checksOf('x'), { ok: 1 }, headers)).status, 404, 'a malformed id');
  t.is((await service.post(checksOf(unknownId), { ok: 1 }, headers)).status, 400, 'a wrong field');
  t.is((await service.post(checksOf(unknownId), { ok: true }, headers)).status, 404, 'an unknown id');
  await service.commands.removeNode({ nodeId: id }, givenContext(9, service.stores.clock.now(), 'operator'));
  t.is((await service.post(checksOf(id), { ok: true }, headers)).status, 404, 'a removed node');
  t.deepEqual(await service.stores.stateStore.list('node-check/', { limit: 10 }), [], 'none counts');
});

const wrong: readonly [string, unknown][] = [
  ['ok', {}],
  ['ok', { ok: 'yes' }],
  ['latency_ms', { ok: true, latency_ms: -1 }],
  ['latency_ms', { ok: true, latency_ms: '5' }],
  ['error', { ok: false, error: '\u{1f4a5}'.repeat(501) }],
  ['error', { ok: false, error: 7 }],
  ['status', { ok: true, status: 'healthy' }],
];

test('A check with a wrong or unknown field is 400, names the field and counts nothing', async (t) => {
  const service = await startTestService(t);
  const id = await addNode(service);
  for (const [field, json] of wrong) {
    const { status, json: body } = await service.post(checksOf(id), json, headers);
    const { code, message } = body as { code: string; message: string };
    t.is(status, 400, JSON.stringify(json).slice(0, 60));
    t.is(code, 'invalid_request');
    t.true(message.includes(field), message);
  }
  t.is(await service.stores.stateStore.get(`node-check/${id}`), null);
  const longest = { ok: false, error: '\u{1f4a5}'.repeat(500) };
  t.is((await service.post(checksOf(id), longest, headers)).status, 204);
});

test('Checks of a node beyond its limit are 429, and other nodes are not limited', async (t) => {
  const service = await startTestService(t, { rates: { node_checks: { limit: 10, seconds: 1 } } });
  const [busy, other] = [await addNode(service, 1), await addNode(service, 2)];
  const ask = (id: string) => service.post(checksOf(id), { ok: true }, headers);
  for (let n = 0; n < 10; n += 1) t.is((await ask(busy)).status, 204);
  const refused = await ask(busy);
  t.is(refused.status, 429);
  t.like(refused.json, { code: 'rate_limited' });
  t.is(refused.headers.get('retry-after'), '1');
  t.is((await ask(other)).status, 204);
  t.like(await service.commands.nodeChecks.one(busy), { successes: 10 }, 'a refused check counts nothing');
  service.stores.clock.advance(1_000);
  t.is((await ask(busy)).status, 204);
});

test('A check is 503 and counts nothing while the state store is away', async (t) => {
  let away = false;
  const refuse = () => Promise.reject(new StoreUnavailable('away'));
  const wrapState = (store: StateStore): StateStore => ({
    ...store,
    get: (key) => (away ? refuse() : store.get(key)),
    compareAndSet: (...args) => (away ? refuse() : store.compareAndSet(...args)),
  });
  const service = await startTestService(t, { storeOptions: { wrapState } });
  const id = await addNode(service);
  away = true;
  const refused = await service.post(checksOf(id), { ok: true }, headers);
  t.is(refused.status, 503);
  t.like(refused.json, { code: 'store_unavailable' });
  away = false;
  t.is(await service.commands.nodeChecks.one(id), null);
});

test('A reply 304 does not ask for the bytes of a body that is made late', async (t) => {
  let asked = 0;
  const route = testRoute('GET /late', {
    entityTag: true,
    replies: { 200: { description: 'The body.', schema: z.strictObject({}) } },
    handler: () => ({
      status: 200,
      prepared: {
        tag: 'W/"one"',
        bytes: () => {
          asked += 1;
          return Buffer.from('{}');
        },
      },
    }),
  });
  const http = await startTestHttp(t, { routes: [route] });
  t.is((await http.ask('/late', { headers: { 'if-none-match': '"one"' } })).status, 304);
  t.is(asked, 0);
  t.is((await http.ask('/late')).text, '{}');
});
