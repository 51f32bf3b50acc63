import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { projectAggregate } from '../../src/areas/projects/domain/project/project.js';
import { makeHealth } from '../../src/observing/health.js';
import { makeHttp } from '../../src/composition/http.js';
import { openServices, type Services } from '../../src/composition/services.js';
import { readConfig } from '../../src/config/config.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import { startProjections } from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { startHttpServer } from '../../src/http/server/server.js';
import { makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { appendEvents } from '../support/given/append-events.js';
import { listen, makeAnchor, makeBare } from './anchors.js';

/** Enough projects for the storages of all rounds, with 20 a project. */
const projectCount = 5_000;

/** The values with which the parent process sends its requests. */
export interface HttpBenchSetup {
  readonly service: string;
  /** Koa with @koa/router and the request-id and log middleware of the service. `/<size>` replies with that size. */
  readonly anchor: string;
  /** Koa alone with the same replies. */
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
writeFileSync(limits, JSON.stringify({ session: unlimited, user: unlimited, register: unlimited }));
const services = await openServices(
  readConfig({
    DATA_DIR: join(directory, 'data'),
    LIMITS_FILE: limits,
    NODE_AGENT_SECRET: agentSecret,
    // One user sends all requests.
    MAX_REQUESTS: '10000',
  }),
  { passwordScrypt: { N: 2, r: 8, p: 1 } },
);
process.send?.(await setUp(services));

async function setUp(all: Services): Promise<HttpBenchSetup> {
  await all.generations.start();
  const health = makeHealth({
    stores: { away: () => [] },
    logReads: { failingSinceMs: () => null },
    clock: all.clock,
  });
  health.projectionsStarted(
    await startProjections(
      { ...all, lease: makeSoleLease('bench') },
      { onRetry: () => undefined, onStopped: fail, onRebuilt: () => undefined },
    ),
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
  // A user may own 100 projects, so the events are appended without the command.
  const id = v7();
  const created = { type: 'ProjectCreated', data: { name: 'Film', owner_id: ownerId } } as const;
  await appendEvents(all.handler, { aggregate: projectAggregate, id }, [created], new Date());
  await all.commands.grantEntitlement(
    { projectId: id, entitlement: 'allow_s3', source: 'operator' },
    makeContext(),
  );
  return id;
}

function makeContext(): CommandContext {
  const commandId = randomUUID();
  return { commandId, causationId: commandId, correlationId: commandId, actor: 'operator', time: new Date() };
}

function fail(_collection: string, error: unknown): never {
  throw error;
}
