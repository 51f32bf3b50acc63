import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { projectsProjection } from '../../projections/projects/projects/projection.js';
import { projectCategory, projectCodec } from '../../src/areas/projects/domain/project/events.js';
import { documentBytes } from '../../src/event-sourcing/ports/read-model-store.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { collectionName } from '../../src/event-sourcing/views/projection.js';
import { asObject, makeServiceClient, operate } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { withoutLimits, givenService, keyEnvironment } from '../support/servers/service-process.js';
import { realClock } from '../support/fakes/clock.js';
import { recordEvents } from '../support/given/given-events.js';
import { largeProject, projectsMax } from '../support/given/large-projects.js';
import {
  startSuiteLog,
  makeTestDatabase,
  mongoDbSuite,
  openStoresAt,
} from '../support/servers/store-servers.js';
import { untilAnswered } from '../support/servers/service-ledger.js';
import { loadCheckpoint } from '../../src/event-sourcing/ports/records.js';

const collection = collectionName(projectsProjection, 1);
const grants = 20;
/** Renames cost the most time. Without DEEP_BUDGET=1 there are as many as prove that the views follow. */
const renamesMax = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1 ? projectsMax : 20;

/** A served process with its own limits of time, and a reader of its documents. */
async function given(t: ExecutionContext) {
  const { environment, open } = await startSuiteLog(t);
  const { url } = await makeTestDatabase(t);
  const service = await givenService(t, {
    environment: {
      ...keyEnvironment,
      ...environment,
      MONGODB_URL: url,
      ...withoutLimits(t),
      LOG_LEVEL: 'warn',
    },
  });
  const log = open();
  t.teardown(() => log.close());
  const { readModelStore } = await openStoresAt(t, url, { clock: realClock });
  return { service, log, readModelStore };
}

/** Appends projects of the largest size past the service. @returns their ids and the revision that each has then */
async function appendProjects(log: EventStore, ownerId: string) {
  const aggregate = { category: projectCategory, codec: projectCodec };
  const events = recordEvents(aggregate, 'template', largeProject(ownerId, grants));
  const ids = Array.from({ length: projectsMax }, () => randomUUID());
  for (const id of ids) {
    const own = events.map(({ type, data, metadata }) => ({ id: randomUUID(), type, data, metadata }));
    await log.append(`${projectCategory}-${id}`, 'no-stream', own);
  }
  return { ids, revision: BigInt(events.length - 1) };
}

/** Renames projects past the service, each after its revision. */
async function appendRenames(log: EventStore, revisions: ReadonlyMap<string, bigint>): Promise<void> {
  const aggregate = { category: projectCategory, codec: projectCodec };
  const [event] = recordEvents(aggregate, 'rename', [
    { type: 'ProjectRenamed', data: { name: 'Renamed again' } },
  ]);
  if (event === undefined) throw new Error('there is no event');
  const { type, data, metadata } = event;
  for (const [id, revision] of revisions)
    await log.append(`${projectCategory}-${id}`, revision, [{ id: randomUUID(), type, data, metadata }]);
}

/** What the service says of a view that has stopped. */
const stopped = /stopped|no view|too large/;

/**
 * Waits until the view has passed the present head of the log. The documents are too large to be read all along.
 * @throws Error when a view has stopped
 */
async function untilPassed({
  log,
  readModelStore,
  service,
}: Awaited<ReturnType<typeof given>>): Promise<void> {
  const head = (await log.head()) ?? '';
  const passed = async (): Promise<boolean> => {
    if (stopped.test(service.output())) throw new Error(service.output().slice(-2_000));
    return ((await loadCheckpoint(readModelStore, collection))?.position ?? '') >= head;
  };
  await eventually('the view passes the end', passed, { pollMs: 500 });
}

mongoDbSuite(test, 'Projects of the largest size are renamed', () => {
  test(`No view of a process stops while ${renamesMax} of 200 projects of the largest size are renamed one after the other, and all of them while it is away`, async (t) => {
    t.timeout(20 * 60_000);
    // Given 200 projects as large as their limits allow, which only the projector writes
    const scene = await given(t);
    const { service, log, readModelStore } = scene;
    const client = makeServiceClient(service.url);
    const owner = await client.register('ada@example.org', 'Correct-Horse-7');
    const { ids, revision } = await appendProjects(log, owner.userId);
    await untilPassed(scene);
    const stored = () => readModelStore.getMany(collection, ids);
    const before = await stored();
    t.is(before.length, ids.length);
    const bytes = before.reduce((sum, { body }) => sum + documentBytes(body), 0);
    t.log(`all documents together have ${bytes} bytes`);
    t.true(bytes > 16 * 1024 * 1024);

    // When their owner renames them one after the other
    const { headers } = await client.login('ada@example.org', 'Correct-Horse-7');
    const renamed = ids.slice(0, renamesMax);
    for (const id of renamed) {
      const { status, text } = await untilAnswered(() =>
        client.patch(`/api/v1/projects/${id}`, { name: 'Renamed' }, headers),
      );
      t.is(status, 200, text);
    }

    // Then every view follows, and none has stopped
    await untilPassed(scene);
    const after = await readModelStore.getMany(collection, renamed);
    t.is(after.length, renamed.length);
    t.true(after.every((one) => one.revision === revision + 1n && one.body?.['name'] === 'Renamed'));

    // And when all of them are renamed while the process is away, so that one page of the log changes more than 16 MiB
    const isRenamed = new Set(renamed);
    const revisions = new Map(ids.map((id) => [id, isRenamed.has(id) ? revision + 1n : revision]));
    service.signal('SIGSTOP');
    await appendRenames(log, revisions);
    service.signal('SIGCONT');
    await untilPassed(scene);
    const again = await stored();
    t.is(again.length, ids.length);
    t.true(again.every((one) => one.body?.['name'] === 'Renamed again'));
    const { ready, components } = asObject(await operate(service.directory, 'status', {}));
    t.true(ready);
    const views = (Array.isArray(components) ? components : [])
      .map(asObject)
      .filter(({ kind }) => kind === 'view');
    t.true(views.length > 10);
    t.deepEqual(
      views.filter(({ state }) => state !== 'running'),
      [],
    );
    t.notRegex(service.output(), stopped);
  });
});
