import test from 'ava';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { sealedSchema } from '../../../../src/event-sourcing/ports/events.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { makeAllowedAddresses } from '../../../../src/areas/storages/domain/bucket/bucket.js';
import { otherProjectId, userId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const actor = `user:${userId}`;

const request = {
  name: ' Media ',
  provider: 'oss',
  bucket: 'rivers-media',
  credentials: { access_key: 'CANARY-ACCESS', secret_key: 'CANARY-SECRET' },
  endpoint: 'https://rivers-media.oss-cn-hangzhou.aliyuncs.com/',
} as const;

async function given() {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const log = async () => (await stores.eventStore.readAll({ after: null, limit: 500 })).events;
  return { stores, log, ...commands };
}

async function givenProject() {
  const world = await given();
  const context = givenContext(1, at, actor);
  const { resource } = await world.createProject({ ownerId: userId, name: 'Rivers' }, context);
  const grant = { projectId: resource.id, entitlement: 'allow_s3', source: 'operator' } as const;
  await world.grantEntitlement(grant, givenContext(2, at, 'operator'));
  return { ...world, projectId: resource.id };
}

test('A project belongs to its creator', async (t) => {
  const { createProject, projects } = await given();
  const context = givenContext(1, at, actor);
  const created = await createProject({ ownerId: userId, name: 'Rivers' }, context);
  t.deepEqual(created, {
    revision: 0n,
    resource: {
      id: derivedId(context, 'project'),
      name: 'Rivers',
      role: 'owner',
      open_shares: false,
      accent_color: null,
      require_2fa: false,
      billed_to: userId,
      used_bytes: 0,
      billing_offer: null,
      entitlements: { allow_s3: false },
      created_at: at.toISOString(),
      updated_at: at.toISOString(),
    },
  });
  t.deepEqual(await projects.find(created.resource.id, userId), created, 'a later read returns the same');
  t.deepEqual(await createProject({ ownerId: userId, name: 'Rivers' }, context), created, 'also repeated');
});

test('An operator grants an entitlement to a project, and the next read shows it', async (t) => {
  const { projects, projectId, log } = await givenProject();
  t.like(await projects.find(projectId, userId), { resource: { entitlements: { allow_s3: true } } });
  t.like((await log()).at(-1), { type: 'EntitlementGranted', metadata: { actor: 'operator' } });
});

test('A revoked entitlement is gone at the next read, unless an order grants it too', async (t) => {
  const { createStorage, grantEntitlement, revokeEntitlement, projects, projectId, log } =
    await givenProject();
  const byOperator = { projectId, entitlement: 'allow_s3', source: 'operator' } as const;
  const order = derivedId(givenContext(3, at), 'order');
  // Given an order beside the operator, when the grant of the operator is revoked
  await grantEntitlement({ ...byOperator, source: order }, givenContext(3, at, 'system:fulfil-orders'));
  t.deepEqual(await revokeEntitlement(byOperator, givenContext(4, at, 'operator')), [order]);
  // Then the grant of the order still holds
  t.like((await log()).at(-1), {
    type: 'EntitlementRevoked',
    data: { entitlement: 'allow_s3', source: 'operator' },
    metadata: { actor: 'operator' },
  });
  t.like(await projects.find(projectId, userId), { resource: { entitlements: { allow_s3: true } } });
  // and a repetition changes nothing
  const before = await log();
  t.deepEqual(await revokeEntitlement(byOperator, givenContext(5, at, 'operator')), [order]);
  t.deepEqual(await log(), before);
  // When the grant of the order is revoked too, then the project is not entitled
  t.deepEqual(await revokeEntitlement({ ...byOperator, source: order }, givenContext(6, at)), []);
  t.like(await projects.find(projectId, userId), { resource: { entitlements: { allow_s3: false } } });
  const refused = createStorage({ ...request, projectId }, givenContext(7, at));
  t.is(await outcomeOf(refused), 'entitlement_required');
});

test('Only an existing project gets an entitlement', async (t) => {
  const { grantEntitlement, revokeEntitlement } = await given();
  const grant = { projectId: otherProjectId, entitlement: 'allow_s3', source: 'operator' } as const;
  for (const change of [grantEntitlement, revokeEntitlement]) {
    t.is(await outcomeOf(change(grant, givenContext(1, at))), 'project_not_found');
  }
});

test('A storage is created as pending, and a later read returns the same', async (t) => {
  const { createStorage, storages, projectId } = await givenProject();
  const context = givenContext(3, at, actor);
  const created = await createStorage({ ...request, projectId }, context);
  t.deepEqual(created, {
    revision: 0n,
    resource: {
      id: derivedId(context, 'storage'),
      project_id: projectId,
      name: 'Media',
      provider: 'oss',
      endpoint: 'https://oss-cn-hangzhou.aliyuncs.com',
      public_endpoint: '',
      bucket: 'rivers-media',
      region: '',
      base_path: '',
      cdn_domain: '',
      status: 'pending',
      is_default: false,
      last_test_at: null,
      last_error: '',
      warnings: [],
      has_credentials: true,
      created_at: at.toISOString(),
      updated_at: at.toISOString(),
    },
  });
  t.deepEqual(await storages.find(projectId, created.resource.id), created);
});

test('The credentials of a storage are sealed under a key of their version, and nowhere in clear text', async (t) => {
  const { createStorage, storages, projectId, log, stores } = await givenProject();
  const { resource } = await createStorage({ ...request, projectId }, givenContext(3, at, actor));
  const event = (await log()).find(({ type }) => type === 'StorageCreated');
  const credentials = event?.data['credentials'] as Record<string, string>;
  const scope = { kind: 'storage-credentials', projectId, storageId: resource.id, version: 1 } as const;
  for (const [key, text] of Object.entries(request.credentials)) {
    t.is(await stores.sealer.open(scope, key, sealedSchema.parse(credentials[key])), text);
  }
  const shown = JSON.stringify(
    [
      event?.data,
      resource,
      await storages.page({ id: projectId, defaultStorageId: null }, { limit: 50, descending: true }, {}),
    ],
    (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  );
  t.false(shown.includes('CANARY'));
});

test('A repeated command returns the same storage', async (t) => {
  const { createStorage, projectId, log } = await givenProject();
  const context = givenContext(3, at, actor);
  const created = await createStorage({ ...request, projectId }, context);
  const before = await log();
  t.deepEqual(await createStorage({ ...request, projectId }, context), created);
  t.deepEqual(await log(), before);
});

test('A creation that is repeated after the deletion of the storage is refused and restores nothing', async (t) => {
  const { createStorage, destroyCredentials, projectId, log, storages, stores } = await givenProject();
  const context = givenContext(3, at, actor);
  const { resource } = await createStorage({ ...request, projectId }, context);
  const again = () => outcomeOf(createStorage({ ...request, projectId }, context));
  // The first repetition finds the keys, as after a crash before their destruction. The second one does not.
  const target = { aggregate: storageAggregate, id: resource.id };
  await stores.handler.handle(target, { type: 'Delete', projectId }, givenContext(4, at, actor));
  const deleted = await log();
  t.is(await again(), 'removed_since');
  await destroyCredentials(resource.id);
  t.is(await again(), 'removed_since');
  t.deepEqual(await log(), deleted);
  t.is(await storages.find(projectId, resource.id), null);
});

test('Addresses of both versions are allowed by range', (t) => {
  const allows = makeAllowedAddresses(['10.0.0.0/8', 'fd00::/8']);
  for (const address of ['10.1.2.3', 'fd12::1', '::ffff:10.1.2.3']) t.true(allows(address), address);
  for (const address of ['11.0.0.1', 'fe80::1', '::ffff:11.0.0.1', 'minio.example.com', '']) {
    t.false(allows(address), address);
  }
  t.false(makeAllowedAddresses([])('10.1.2.3'));
});
