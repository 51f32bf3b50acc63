import test from 'ava';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { makeCountLimit } from '../../../../src/areas/shared/count-limit.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { projectId, userId } from '../../../support/examples/ids.js';
import { partial } from '../../../support/fakes/partial.js';
import { makeDeleting } from '../../../../src/areas/storages/commands/deleting.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const request = {
  name: 'Media',
  provider: 's3',
  bucket: 'rivers-media',
  region: 'eu-central-1',
  credentials: { access_key: 'a', secret_key: 'b' },
} as const;

test('A project has at most 20 storages, a repeated creation is not judged, and a deleted storage makes room at once', async (t) => {
  const commands = givenCommands(await givenStores());
  const { resource } = await commands.createProject({ ownerId: userId, name: 'Rivers' }, givenContext(1, at));
  const { id: madeId } = resource;
  await commands.grantEntitlement(
    { projectId: madeId, entitlement: 'allow_s3', source: 'operator' },
    givenContext(2, at),
  );
  const create = (n: number) =>
    commands.createStorage({ ...request, projectId: madeId }, givenContext(100 + n, at));
  for (let n = 1; n < 20; n += 1) await create(n);
  const last = await create(20);
  await t.throwsAsync(create(21), { message: /at most 20 storages/ });
  t.is((await create(20)).resource.id, last.resource.id);
  await commands.deleteStorage({ projectId: madeId, storageId: last.resource.id }, givenContext(200, at));
  await t.notThrowsAsync(create(22));
  await t.throwsAsync(create(23), { message: /at most 20 storages/ });
});

test('Every storage of a deleted project goes, also those that requests in flight made beyond the limit', async (t) => {
  const ids = Array.from({ length: 25 }, (_, n) => `storage-${String(n).padStart(2, '0')}`);
  const dropped: string[] = [];
  const { deleteOrphanedStorages } = makeDeleting({
    ...(await givenStores()),
    hasAssets: () => Promise.resolve(false),
    handler: partial({
      handle: ({ id }) => {
        dropped.push(id);
        return Promise.resolve(partial({}));
      },
    }),
    storages: partial({
      ids: (_, { after = '', limit }) => Promise.resolve(ids.filter((id) => id > after).slice(0, limit)),
    }),
  });
  await deleteOrphanedStorages.ofProject(projectId, givenContext(1, at));
  t.deepEqual(dropped, ids);
});

test('What a process appended counts before the view shows it, unless it has gone', async (t) => {
  const max = 4;
  const shown: string[] = ['a', 'b'];
  const log = new Set(shown);
  const limit = makeCountLimit({
    max,
    inView: (_, most) => Promise.resolve(shown.slice(0, most)),
    counts: (id) => Promise.resolve(log.has(id)),
    refuse: () => {
      throw new CommandRejected('full', 'the owner has four');
    },
  });
  const add = (id: string, owner = 'one') =>
    outcomeOf(limit.adding(owner, id, () => Promise.resolve(log.add(id))));
  t.deepEqual([await add('c'), await add('d')], ['passed', 'passed']);
  t.is(await add('e'), 'full');
  t.is(await add('d'), 'passed', 'a repeated command is not judged');
  // Of another owner the process appended nothing.
  t.is(await add('x', 'two'), 'passed');
  log.delete('d');
  t.is(await add('e'), 'passed', 'it has gone, and the view never showed it');
  shown.push('c', 'e');
  log.add('f');
  t.is(await add('f'), 'passed', 'a repeated command of another process');
});

test('What a process appended at the same time counts before the view shows it', async (t) => {
  const log = new Set<string>();
  const limit = makeCountLimit({
    max: 3,
    inView: () => Promise.resolve([]),
    counts: (id) => Promise.resolve(log.has(id)),
    refuse: () => {
      throw new CommandRejected('full', 'the owner has three');
    },
  });
  const add = (id: string) => outcomeOf(limit.adding('one', id, () => Promise.resolve(log.add(id))));
  t.deepEqual(await Promise.all(['a', 'b', 'c'].map(add)), ['passed', 'passed', 'passed']);
  t.is(await add('d'), 'full');
});
