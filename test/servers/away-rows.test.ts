import test, { type ExecutionContext } from 'ava';
import { makeServiceClient, type ServiceReply, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenService } from '../support/servers/service-process.js';
import { startProxiedServers, mongoDbSuite } from '../support/servers/store-servers.js';
import { noAnswers, refusedConnections } from '../support/servers/proxies.js';
import { payOrder, placeOrder, standardEnvironment } from '../support/clients/standard-platform.js';

const agent = { 'x-agent-secret': 'let-the-agents-in' };
/** The latest reply under any fault: src/http/access/README.md#limit-of-a-request. */
const replyMsMax = 20_000;

const outages = { 'refuses connections': refusedConnections, 'answers nothing': noAnswers };

/** A served process on both servers, an account with an order, and calls by every kind of caller. */
async function given(t: ExecutionContext) {
  const { environment, proxies } = await startProxiedServers(t);
  const service = await givenService(t, {
    environment: {
      ...environment,
      NODE_AGENT_SECRET: agent['x-agent-secret'],
      ...standardEnvironment,
    },
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const project = await client.makeProject(headers);
  const issue = { name: 'Nightly', scopes: ['storage:read'] };
  const issued = await client.post(`/api/v1/projects/${project}/api-keys`, issue, headers);
  const key = { 'x-api-key': textOf(issued.json(), 'key') };
  const order = await placeOrder(client, headers);
  const calls = {
    session: () => client.get('/api/v1/auth/me', headers),
    list: () => client.get('/api/v1/projects', headers),
    key: () => client.get(`/api/v1/projects/${project}/storages`, key),
    agent: () => client.get('/api/v1/internal/peer-list', agent),
    write: () => client.post('/api/v1/projects', { name: 'While it is away' }, headers),
    register: () =>
      client.post('/api/v1/auth/register', { email: 'bob@example.org', password: 'Correct-Horse-7' }),
    jwks: () => client.get('/.well-known/jwks.json'),
    health: () => client.get('/healthz'),
    ready: () => client.get('/readyz'),
    callback: () => payOrder(client, order),
    order: () => client.get(`/api/v1/orders/${textOf(order, 'id')}`, headers),
  };
  return { service, calls, proxies };
}

type Calls = Awaited<ReturnType<typeof given>>['calls'];

/** Makes each call, and returns the statuses, with the code of a refusal. */
async function statusesOf(
  t: ExecutionContext,
  calls: Calls,
  names: readonly (keyof Calls)[],
): Promise<Readonly<Record<string, string>>> {
  const seen: Record<string, string> = {};
  for (const name of names) {
    const startedAt = performance.now();
    const reply = await calls[name]();
    const tookMs = performance.now() - startedAt;
    t.true(tookMs <= replyMsMax, `${name} was answered after ${tookMs} ms`);
    seen[name] = reply.status >= 400 ? `${reply.status} ${codeOf(reply)}` : String(reply.status);
  }
  return seen;
}

function codeOf(reply: ServiceReply): string {
  return textOf(reply.json(), 'code');
}

function untilStatus(call: () => Promise<ServiceReply>, status: number): Promise<true> {
  return eventually(`the status ${status}`, async () => (await call()).status === status, {
    ...{ pollMs: 50, at: untilStatus },
  });
}

const away = '503 store_unavailable';

mongoDbSuite(test, 'The rows of servers that are away', () => {
  for (const [what, [leave, comeBack]] of Object.entries(outages)) {
    test(`While MongoDB ${what}, callbacks are accepted, and every call with a session or a key is 503`, async (t) => {
      t.timeout(300_000);
      // Given a served process
      const { service, calls, proxies } = await given(t);
      // When MongoDB goes away
      leave(proxies.documents);
      await untilStatus(calls.ready, 503);
      // Then only calls that need no state are answered
      const names = ['session', 'list', 'key', 'write', 'register', 'callback', 'jwks', 'health'] as const;
      t.deepEqual(await statusesOf(t, calls, names), {
        ...{ session: away, list: away, key: away, write: away, register: away },
        ...{ callback: '200', jwks: '200', health: '200' },
      });
      // When MongoDB is back, then the order of the callback is fulfilled, and every caller is answered
      comeBack(proxies.documents);
      await untilStatus(calls.ready, 200);
      await eventually(
        'the order is fulfilled',
        async () => (await calls.order()).json()['status'] === 'fulfilled',
      );
      t.deepEqual(await statusesOf(t, calls, ['session', 'key', 'agent', 'write']), {
        ...{ session: '200', key: '200', agent: '200', write: '201' },
      });
      t.is(await service.stop(), 0);
    });

    test(`While EventStoreDB ${what}, reads go on, and writes and callbacks are 503`, async (t) => {
      t.timeout(300_000);
      const { service, calls, proxies } = await given(t);
      leave(proxies.log);
      await untilStatus(calls.write, 503);
      const reads = ['session', 'list', 'key', 'agent', 'order', 'jwks', 'health', 'ready'] as const;
      t.deepEqual(await statusesOf(t, calls, reads), Object.fromEntries(reads.map((name) => [name, '200'])));
      const writes = await statusesOf(t, calls, ['write', 'register', 'callback']);
      // An append that was sent may have taken effect, and the code says so.
      for (const [name, seen] of Object.entries(writes))
        t.regex(seen, /^503 (store_unavailable|outcome_unknown)$/, name);
      comeBack(proxies.log);
      await untilStatus(calls.write, 201);
      t.is((await calls.callback()).status, 200);
      await eventually(
        'the order is fulfilled',
        async () => (await calls.order()).json()['status'] === 'fulfilled',
      );
      t.is((await calls.write()).status, 201);
      t.is(await service.stop(), 0);
    });
  }
});
