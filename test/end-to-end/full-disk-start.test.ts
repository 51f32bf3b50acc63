import test, { type ExecutionContext } from 'ava';
import type { Fault } from '../../src/stores/embedded/writing/transactions.js';
import { makeServiceClient, type SignedIn } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenSharedStores } from '../support/servers/embedded-directory.js';
import { givenInProcess, type ServiceInProcess } from '../support/servers/service-in-process.js';
import { givenDirectory } from '../support/servers/service-process.js';

const password = 'Correct-Horse-7';

/** A disk without room for documents. The log still has room in its file. */
const noRoom: readonly Fault[] = Array.from({ length: 5_000 }, (_, index) => ({
  file: 'read-models',
  step: 'statement',
  n: index + 1,
  when: 'before',
  code: 'SQLITE_FULL',
}));

test('A start on a full disk serves reads that show every acknowledged write, and revocations', async (t) => {
  // Given a service whose disk has no room for the documents of its last events
  const directory = givenDirectory(t);
  const before = await start(t, directory);
  const client = makeServiceClient(before.service.url);
  const owner = await client.register('ada@example.org', password);
  const other = await client.login('ada@example.org', password);
  const project = await client.makeProject(owner.headers, 'Old');
  await before.close();
  const full = await start(t, directory, noRoom);
  const writer = makeServiceClient(full.service.url);
  const renamed = await writer.patch(`/api/v1/projects/${project}`, { name: 'New' }, owner.headers);
  t.is(renamed.status, 503, renamed.text);
  const second = await writer.makeProject(owner.headers, 'Second');
  t.is((await writer.post('/api/v1/auth/logout', {}, other.headers)).status, 503);
  await full.close();
  // When it starts again and there is still no room
  const again = await start(t, directory, noRoom);
  // Then the views count as reached, so that the service listens
  await eventually('the views count as reached', () => again.service.projections.live().reached);
  t.false(again.service.projections.live().statuses.every(({ state }) => state === 'live'));
  // and reads show what the log holds, and no ended session passes
  await assertShown(t, again.service, { owner, project, name: 'New' });
  const reader = makeServiceClient(again.service.url);
  t.like((await reader.get(`/api/v1/projects/${second}`, owner.headers)).json(), { name: 'Second' });
  t.is((await reader.get(`/api/v1/projects/${project}`, other.headers)).status, 401);
  await again.close();
  // When there is room, then the views hold everything
  const after = await start(t, directory);
  await eventually('the views hold everything', () =>
    after.service.projections.live().statuses.every(({ atHead }) => atHead),
  );
  const { generations, stale } = after.service.services;
  t.false(generations.projections.some((view) => stale.has(generations.liveCollection(view))));
  await assertShown(t, after.service, { owner, project, name: 'New' });
  await assertShown(t, after.service, { owner, project: second, name: 'Second' });
});

async function start(t: ExecutionContext, directory: string, faults: readonly Fault[] = []) {
  const stores = await givenSharedStores(t, directory, { faults });
  const service = await givenInProcess(t, { directory, stores });
  const close = async (): Promise<void> => {
    await service.close();
    await stores.close();
  };
  return { service, close };
}

async function assertShown(
  t: ExecutionContext,
  service: ServiceInProcess,
  expected: { readonly owner: SignedIn; readonly project: string; readonly name: string },
): Promise<void> {
  const { owner, project, name } = expected;
  const reader = makeServiceClient(service.url);
  t.like((await reader.get(`/api/v1/projects/${project}`, owner.headers)).json(), { name });
  const { items } = (await reader.get('/api/v1/projects', owner.headers)).json() as {
    items: readonly object[];
  };
  t.like(
    items.find((item) => 'id' in item && item.id === project),
    { name },
  );
}
