import { setTimeout as wait } from 'node:timers/promises';
import { pluck } from '../support/given/pluck.js';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { eventually } from '../support/eventually.js';
import {
  givenService,
  keyEnvironment,
  freePort,
  runCli,
  loggedIn,
} from '../support/servers/service-process.js';
import { makeMongoDbProxy, makeTestDatabase, mongoDbSuite } from '../support/servers/store-servers.js';

/** DEEP_BUDGET=1 freezes for more than a minute, so that the log reports the outage twice. */
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const frozenMs = isWhole ? 66_000 : 15_000;
/** The service notices the outage a few seconds after it has begun. */
const lagSecondsMin = frozenMs / 1_000 - 6;
const reports = ['a store does not answer', ...(isWhole ? ['a store still does not answer'] : [])];
const credentials = { email: 'ada@example.org', password: 'Correct-Horse-9' };

const status = z.object({
  ready: z.boolean(),
  process: z.string(),
  reasons: z.array(z.string()),
  components: z.array(
    z.object({
      ...{ kind: z.string(), name: z.string(), state: z.string() },
      ...{ lag_seconds: z.number().nullable(), feeders: z.array(z.string()), problem: z.string().nullable() },
    }),
  ),
});

async function given(t: ExecutionContext) {
  const { name } = await makeTestDatabase(t);
  const { proxy, url } = await makeMongoDbProxy(t, name);
  const metricsPort = await freePort();
  const environment = {
    ...keyEnvironment,
    MONGODB_URL: url,
    NODE_AGENT_SECRET: 'test only, of the agents',
    METRICS_PORT: String(metricsPort),
  };
  const service = await givenService(t, { environment });
  return {
    ...{ service, proxy, environment },
    details: async () => {
      const reply = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
      return { code: reply.status, status: status.parse(await reply.json()) };
    },
    /** Requests that need MongoDB, as clients send them during an outage. */
    request: async () => {
      const signIn = fetch(`${service.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(credentials),
      });
      const peers = fetch(`${service.url}/api/v1/internal/peer-list`, {
        headers: { 'x-agent-secret': environment.NODE_AGENT_SECRET },
      });
      return (await Promise.all([signIn, peers])).map((reply) => reply.status);
    },
  };
}

/** Returns the messages of level warn and above. */
function warnings(text: string): readonly string[] {
  return loggedIn(text).flatMap(({ level, msg }) => (level >= 40 ? [msg] : []));
}

mongoDbSuite(test, 'The tests of a frozen MongoDB', () => {
  test(`While MongoDB is frozen the log reports it once${isWhole ? ' and again after a minute' : ''}, and the details name it`, async (t) => {
    // Given a service that names its components on the port of the metrics
    const { service, proxy, environment, details, request } = await given(t);
    // With an empty log it is ready before it feeds
    await eventually('all components run', async () =>
      (await details()).status.components.every(({ state }) => ['answers', 'running'].includes(state)),
    );
    const before = await details();
    t.is(before.code, 200);
    for (const { kind, name, state, feeders } of before.status.components) {
      t.is(state, kind === 'store' ? 'answers' : 'running', name);
      if (kind !== 'store') t.deepEqual(feeders, [before.status.process], name);
    }
    const kinds = new Set(before.status.components.map(({ kind }) => kind));
    t.deepEqual([...kinds], ['store', 'view', 'reaction', 'task']);
    const shown = await runCli(service.directory, ['status', '--json'], environment);
    t.is(shown.code, 0);
    t.deepEqual(
      pluck(status.parse(JSON.parse(shown.stdout)).components, 'name'),
      before.status.components.map(({ name }) => name),
    );
    // When MongoDB freezes while clients send requests
    const said = service.output().length;
    const began = Date.now();
    proxy.freeze();
    let codes: readonly number[] = [];
    while (Date.now() - began < frozenMs) {
      codes = await request();
      await wait(500);
    }
    const during = await details();
    const command = await runCli(service.directory, ['status'], environment);
    const publicReply = await fetch(`${service.url}/readyz`);
    const text = service.output().slice(said);
    proxy.thaw();
    // Then the log has one line about it, in a longer outage another one after a minute, and that of the readiness
    t.deepEqual(codes, [503, 503]);
    t.deepEqual(
      warnings(text).filter((msg) => msg !== 'not ready'),
      reports,
    );
    t.is(text.split('\n').filter((line) => line.startsWith('stowage: ')).length, reports.length);
    // And the details name the store, which the public reply does not
    t.is(during.code, 503);
    const store = during.status.components.find(({ name }) => name.startsWith('MongoDB at '));
    t.is(store?.state, 'away');
    t.true((store?.lag_seconds ?? 0) > lagSecondsMin && (store?.lag_seconds ?? 0) < 300);
    t.is(publicReply.status, 503);
    t.false((await publicReply.text()).includes('MongoDB'));
    t.is(command.code, 75);
    t.regex(command.stdout, /MongoDB at \S+ +away/);
    // When MongoDB goes on, then all components run again
    await eventually('all components run', async () => (await details()).code === 200);
    t.is(await service.stop(), 0);
  });
});
