import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { projectsProjection } from '../../projections/projects/projects/projection.js';
import { collectionName } from '../../src/event-sourcing/views/projection.js';
import { eventually } from '../support/eventually.js';
import { openStores } from '../support/servers/embedded-directory.js';
import {
  asObject,
  makeServiceClient,
  operate,
  type ServiceClient,
  type SignedIn,
} from '../support/clients/service-client.js';
import { findViewProblems, readLog } from '../support/servers/service-log-and-disk.js';
import { withoutLimits, givenService, runCli } from '../support/servers/service-process.js';

/** The least number of projects that are created before the rebuild, and again after it. */
const createdMin = 30;
const collection = (generation: number): string => collectionName(projectsProjection, generation);

test('A view is rebuilt under load without a failed request, and every user reads their own writes', async (t) => {
  // Given a service with users who create projects and read them at once
  const environment = { ...withoutLimits(t), MAX_REQUESTS: '10000', LOG_LEVEL: 'warn' };
  const service = await givenService(t, { environment });
  const { directory } = service;
  const client = makeServiceClient(service.url);
  const users = await Promise.all(
    ['ada', 'grace', 'mary'].map((name) => client.register(`${name}@example.org`, 'Correct-Horse-7')),
  );
  const stopping = new AbortController();
  const created = { count: 0 };
  const load = Promise.all(users.map((user) => createAndRead(t, { client, user, created }, stopping.signal)));
  const createMore = async (): Promise<void> => {
    const enough = created.count + createdMin;
    while (created.count < enough) await Promise.race([wait(20), load]);
  };
  await createMore();
  // When an operator starts the rebuild
  const asked = await runCli(directory, ['projection', 'rebuild', 'projects', '--json']);
  t.is(asked.code, 0, asked.stderr);
  t.like(JSON.parse(asked.stdout), { building: collection(2) });
  const refused = await runCli(directory, ['projection', 'rebuild', 'projects']);
  t.regex(refused.stderr, /is being rebuilt.*try again later/);
  const before = created.count;
  await eventually('the view is rebuilt', () => isRebuilt(directory), { pollMs: 500 });
  const meanwhile = created.count - before;
  await createMore();
  stopping.abort();
  await load;

  // Then no request failed, readers use the new generation, it is correct, and the old one is gone
  t.log(`${meanwhile} projects were created and read meanwhile`);
  t.is(await service.stop(), 0);
  const stores = await openStores(directory);
  t.teardown(() => stores.close());
  const collections = await stores.readModelStore.collections();
  t.true(collections.includes(collection(2)));
  t.false(collections.includes(collection(1)));
  const generationOf = ({ name }: { readonly name: string }): number => (name === 'projects' ? 2 : 1);
  const events = await readLog(stores.eventStore);
  t.deepEqual(await findViewProblems(events, stores.readModelStore, generationOf), []);
});

/** Creates projects, counts them, and reads each by its id and in the user's list. */
async function createAndRead(
  t: ExecutionContext,
  {
    client,
    user,
    created,
  }: { readonly client: ServiceClient; readonly user: SignedIn; readonly created: { count: number } },
  signal: AbortSignal,
): Promise<void> {
  const own: string[] = [];
  while (!signal.aborted) {
    // A user owns at most 100 projects, so each further one replaces the oldest.
    const oldest = own.length < 90 ? undefined : own.shift();
    if (oldest !== undefined) {
      const gone = await client.delete(`/api/v1/projects/${oldest}`, user.headers);
      t.is(gone.status, 204, gone.text);
    }
    const id = await client.makeProject(user.headers, `Project ${created.count}`);
    const [one, list] = await Promise.all([
      client.get(`/api/v1/projects/${id}`, user.headers),
      client.get('/api/v1/projects?limit=1', user.headers),
    ]);
    t.is(one.status, 200, one.text);
    t.is(list.status, 200, list.text);
    const { items } = list.json();
    t.deepEqual(Array.isArray(items) ? items.map((item) => asObject(item)['id']) : [], [id]);
    own.push(id);
    created.count += 1;
    // The pause bounds the load, because the log grows with it.
    await wait(20);
  }
}

async function isRebuilt(directory: string): Promise<boolean> {
  const { items } = asObject(await operate(directory, 'projection list', {}));
  const all = Array.isArray(items) ? items.map(asObject) : [];
  const view = all.find(({ name }) => name === 'projects');
  return (
    view?.['live'] === 2 &&
    [view['building'], view['retiring'], view['dropping']].every((phase) => phase === null)
  );
}
