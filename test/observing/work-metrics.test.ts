import test from 'ava';
import { Registry } from 'prom-client';
import { StoreDamaged, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import {
  registerBehindMetrics,
  registerHashMetrics,
  registerMailMetrics,
  registerNodeMetrics,
} from '../../src/observing/work-metrics.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

test('The events that views lack are counted once for views that stand at one position', async (t) => {
  const registry = new Registry();
  const reads: unknown[] = [];
  let isAway = false;
  registerBehindMetrics(registry, {
    views: () => [
      { view: 'users', position: 'b', lags: false },
      { view: 'orders', position: 'a', lags: true },
      { view: 'shares', position: 'a', lags: true },
    ],
    readAll: (options) => {
      reads.push(options);
      if (isAway) return Promise.reject(new StoreUnavailable('away'));
      return Promise.resolve({ events: [{}, {}, {}] as never[], cursor: 'b', atHead: true });
    },
  });
  const text = await registry.metrics();
  for (const [view, count] of Object.entries({ users: 0, orders: 3, shares: 3 })) {
    t.true(text.includes(`stowage_projection_events_behind{view="${view}"} ${count}\n`), view);
  }
  t.deepEqual(reads, [{ after: 'a', limit: 1_000 }]);
  isAway = true;
  const away = await registry.metrics();
  t.true(away.includes('{view="users"} 0\n'));
  t.false(away.includes('{view="orders"}'), 'an unknown count is no value');
});

test('The events that a view lacks are counted over all pages of the log', async (t) => {
  // Given a log whose pages have 11 events, because they are large
  const registry = new Registry();
  registerBehindMetrics(registry, {
    views: () => [{ view: 'users', position: '0', lags: true }],
    readAll: ({ after, limit }) => {
      const at = Number(after);
      const length = Math.min(11, 100 - at, limit);
      const events = Array.from({ length }, () => ({})) as never[];
      return Promise.resolve({ events, cursor: String(at + length), atHead: at + length === 100 });
    },
  });
  // Then
  t.true((await registry.metrics()).includes('{view="users"} 100\n'));
});

test('Mails, hashes and nodes that wait have values without events of others', async (t) => {
  const registry = new Registry();
  const now = new Date('2026-01-01T00:01:00Z');
  const figures = { records: 3, oldestAt: new Date('2026-01-01T00:00:00Z') };
  registerMailMetrics(registry, { now: () => now }, () => figures);
  registerHashMetrics(registry, { accounts: { load: () => ({ running: 2, waiting: 7 }) } });
  registerNodeMetrics(registry, {
    statuses: ['healthy', 'unhealthy'],
    list: () => Promise.resolve([{ status: 'healthy' }, { status: 'healthy' }]),
  });
  const text = await registry.metrics();
  for (const line of [
    'stowage_mail_outbox 3',
    'stowage_mail_outbox_oldest_seconds 60',
    'stowage_hashes{pool="accounts",state="waiting"} 7',
    'stowage_nodes{status="healthy"} 2',
    'stowage_nodes{status="unhealthy"} 0',
  ]) {
    t.true(text.includes(`${line}\n`), line);
  }
});

test('The service counts checks of nodes, refused secrets and keys of limiters', async (t) => {
  // Given a service with a node
  const secret = 'test only, of the agents';
  const service = await givenInProcess(t, { environment: { NODE_AGENT_SECRET: secret } });
  const { addNode } = service.services.commands;
  const ids = { commandId: '0196a000-0000-7000-8000-000000000001', causationId: 'c', correlationId: 'c' };
  const { resource } = await addNode(
    { name: 'edge-1', ip_address: '192.0.2.1' },
    { ...ids, actor: 'operator', time: new Date() },
  );
  const report = async (presented: string | null, ok: boolean): Promise<number> => {
    const reply = await fetch(`${service.url}/api/v1/internal/nodes/${resource.id}/checks`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(presented === null ? {} : { 'x-agent-secret': presented }),
      },
      body: JSON.stringify({ ok }),
    });
    return reply.status;
  };
  // When agents report, one with a wrong secret and one without any
  t.is(await report(secret, true), 204);
  t.is(await report(secret, true), 204);
  t.is(await report(secret, false), 204);
  t.is(await report('wrong', true), 401);
  t.is(await report(null, true), 401);
  // Then the metrics tell
  const text = await service.metrics();
  for (const line of [
    'stowage_node_checks_total{result="ok"} 2',
    'stowage_node_checks_total{result="failed"} 1',
    'stowage_secrets_refused_total{reason="wrong"} 1',
    'stowage_secrets_refused_total{reason="missing"} 1',
    'stowage_nodes{status="degraded"} 1',
  ]) {
    t.true(text.includes(`${line}\n`), line);
  }
  t.regex(text, /^stowage_limiter_keys\{table="\w+"\} [1-9]/m);
  t.regex(text, /^stowage_build_info\{version="[^"]+",node="[^"]+"\} 1$/m);
});

test('A damaged document takes away the metrics that read it, and no other', async (t) => {
  const registry = new Registry();
  const list = () => Promise.reject(new StoreDamaged('a document that Stowage did not write'));
  registerNodeMetrics(registry, { statuses: ['online'], list });
  registerMailMetrics(registry, { now: () => new Date(0) }, () => ({ records: 3, oldestAt: null }));
  const text = await registry.metrics();
  t.true(text.includes('stowage_mail_outbox 3\n'));
  t.false(text.includes('stowage_nodes{'));
});
