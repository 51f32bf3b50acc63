import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { makeHealth } from '../../src/composition/health.js';
import { makeHttp } from '../../src/composition/http.js';
import { openServices, type Services } from '../../src/composition/services.js';
import { readConfig } from '../../src/config.js';
import type { CommandContext } from '../../src/event-sourcing/command-handler.js';
import { startProjections } from '../../src/event-sourcing/projection-runner.js';
import { makeHttpMetrics } from '../../src/http/metrics.js';
import { makeObserve } from '../../src/http/observe.js';
import { startHttpServer } from '../../src/http/server.js';
import type { HttpState } from '../../src/http/shell.js';
import { makeClientIp } from '../../src/security/client-ip.js';

/** Enough for the storages of all rounds, 20 a project. */
const projectCount = 5_000;

/** What the parent process needs to send its requests. */
export interface HttpBenchSetup {
  readonly service: string;
  /** Koa with @koa/router and the service's own request-id and log middleware; `/<size>` answers so many bytes. */
  readonly anchor: string;
  /** Koa alone, the same answers. */
  readonly bare: string;
  readonly authorization: string;
  readonly agentSecret: string;
  readonly storagePath: string;
  readonly projectIds: readonly string[];
}

const agentSecret = 'bench-agent-secret';
const directory = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
process.once('disconnect', () => {
  rmSync(directory, { recursive: true });
  process.exit();
});
const limits = join(directory, 'limits.json');
const unlimited = { limit: 1_000_000_000, seconds: 1 };
writeFileSync(limits, JSON.stringify({ session: unlimited, register: unlimited }));
const services = await openServices(
  readConfig({ DATA_DIR: join(directory, 'data'), LIMITS_FILE: limits, NODE_AGENT_SECRET: agentSecret }),
  { passwordScrypt: { N: 2, r: 8, p: 1 } },
);
process.send?.(await setUp(services));

async function setUp(all: Services): Promise<HttpBenchSetup> {
  await all.generations.start();
  const health = makeHealth({ probes: [], clock: all.clock });
  health.projectionsStarted(
    await startProjections(all, { onRetry: () => undefined, onStopped: fail, onRebuilt: () => undefined }),
  );
  const http = makeHttp(all, health);
  const server = await startHttpServer({ ...http, host: '127.0.0.1', port: 0 });
  const { user, tokens } = await all.commands.register(
    { email: 'bench@example.org', password: 'Correct-Horse-9', clientIp: null, userAgent: null },
    makeContext(),
  );
  const projectIds = await Promise.all(Array.from({ length: projectCount }, () => makeProject(all, user.id)));
  const storage = await all.commands.createStorage(
    {
      projectId: projectIds.pop() ?? '',
      name: 'Rushes',
      provider: 's3',
      bucket: 'rushes',
      region: 'eu-central-1',
      credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
    },
    makeContext(),
  );
  for (let index = 1; index <= 20; index += 1) {
    await all.commands.addNode({ name: `edge-${index}`, ip_address: `192.0.2.${index}` }, makeContext());
  }
  return {
    service: `http://127.0.0.1:${server.port}`,
    anchor: await listen(makeAnchor(all)),
    bare: await listen(makeBare()),
    authorization: `Bearer ${tokens.access_token}`,
    agentSecret,
    storagePath: `/api/v1/projects/${storage.resource.project_id}/storages/${storage.resource.id}`,
    projectIds,
  };
}

async function makeProject(all: Services, ownerId: string): Promise<string> {
  const { resource } = await all.commands.createProject({ ownerId, name: 'Film' }, makeContext());
  await all.commands.grantEntitlement(
    { projectId: resource.id, entitlement: 'allow_s3', source: 'operator' },
    makeContext(),
  );
  return resource.id;
}

function makeContext(): CommandContext {
  const commandId = randomUUID();
  return { commandId, causationId: commandId, correlationId: commandId, actor: 'operator', time: new Date() };
}

function makeAnchor(all: Services): Koa<HttpState> {
  const app = new Koa<HttpState>();
  app.use(
    makeObserve({
      logger: all.log.logger,
      metrics: makeHttpMetrics(new Registry()),
      clientIp: makeClientIp([]),
      digestIp: (address) => all.digests.ip(address),
      closing: () => false,
    }),
  );
  const router = new Router<HttpState>();
  const answer = (ctx: Koa.Context): void => {
    ctx.type = 'json';
    ctx.body = constantBody(ctx.path);
  };
  router.get('/:size', answer).post('/:size', answer);
  app.use(router.routes());
  return app;
}

function makeBare(): Koa {
  const app = new Koa();
  app.use((ctx) => {
    ctx.type = 'json';
    ctx.body = constantBody(ctx.path);
  });
  return app;
}

const bodies = new Map<string, string>();

function constantBody(path: string): string {
  let body = bodies.get(path);
  if (body === undefined) {
    body = 'x'.repeat(Number(path.slice(1)));
    bodies.set(path, body);
  }
  return body;
}

async function listen(app: { callback(): Parameters<typeof createServer>[1] }): Promise<string> {
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function fail(_collection: string, error: unknown): never {
  throw error;
}
