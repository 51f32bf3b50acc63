import test from 'ava';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { makeNodes } from '../../../../src/areas/nodes/commands/nodes.js';
import { nodeId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const laterAt = new Date('2026-01-02T03:05:05.000Z');
const operator = (n: number, time = at) => givenContext(n, time, 'operator');

const node = { name: 'edge-1', ip_address: '192.0.2.1' };

async function given() {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const person = { email: 'ada@example.com', password: 'Correct-Horse-7', client: null, userAgent: null };
  return {
    ...{ stores, ...commands },
    /** Registers Ada, and returns her id. */
    ada: async () => (await commands.register(person, givenContext(1, at))).user.id,
  };
}

test('A new node gets default values for omitted fields', async (t) => {
  const { addNode, nodes } = await given();
  const added = await addNode({ ...node, ip_address: '2001:DB8::0010' }, operator(1));
  t.like(added, {
    revision: 0n,
    resource: {
      name: 'edge-1',
      node_type: 'normal',
      ip_address: '2001:db8::10',
      ip_version: 6,
      dnsprovider_record_id: '',
      lb_weight: 100,
      lb_enabled: true,
      max_capacity_hint: null,
      status: 'unknown',
      note: '',
    },
  });
  t.deepEqual(await nodes.find(added.resource.id), added, 'a later read returns the same');
  t.deepEqual(
    await addNode({ ...node, ip_address: '2001:db8::10' }, operator(1)),
    added,
    'so does a repetition',
  );
});

test('A change of a node changes the given fields', async (t) => {
  const { addNode, changeNode, nodes } = await given();
  const { resource } = await addNode({ ...node, note: 'rack 4' }, operator(1));
  const changes = { ip_address: '2001:db8::1', lb_weight: 0, note: undefined };
  const changed = await changeNode({ nodeId: resource.id, changes }, operator(2, laterAt));
  t.deepEqual(changed.resource, {
    ...resource,
    ip_address: '2001:db8::1',
    ip_version: 6,
    lb_weight: 0,
    updated_at: laterAt.toISOString(),
  });
  t.deepEqual(await nodes.list(), [changed.resource]);
});

test('A change without a difference appends no event', async (t) => {
  const { addNode, changeNode } = await given();
  const added = await addNode(node, operator(1));
  const asBefore = { nodeId: added.resource.id, changes: { name: 'edge-1' } };
  t.deepEqual(await changeNode(asBefore, operator(2, laterAt)), added);
});

test('A repeated registration of a node that was removed since is refused', async (t) => {
  const { addNode, removeNode } = await given();
  const { resource } = await addNode(node, operator(1));
  await removeNode({ nodeId: resource.id }, operator(2, laterAt));
  t.is(await outcomeOf(addNode(node, operator(1))), 'removed_since');
});

/** The commands where another change comes between the reading of a node and its change. */
function overtakenBy({ stores, nodes }: Awaited<ReturnType<typeof given>>, change: () => Promise<unknown>) {
  const { handler } = stores;
  return makeNodes({
    nodes,
    handler: {
      ...handler,
      load: async (aggregate, id) => {
        const loaded = await handler.load(aggregate, id);
        await change();
        return loaded;
      },
    },
  });
}

test('Concurrent changes of different fields are both kept', async (t) => {
  const scene = await given();
  const { resource } = await scene.addNode(node, operator(1));
  const change = (changes: { readonly note?: string; readonly lb_weight?: number }) => ({
    ...{ nodeId: resource.id, changes },
  });
  const overtaken = overtakenBy(scene, () => scene.changeNode(change({ lb_weight: 7 }), operator(2)));
  await overtaken.changeNode(change({ note: 'rack 4' }), operator(3));
  t.like(await scene.nodes.list(), [{ lb_weight: 7, note: 'rack 4' }]);
});

test('Of concurrent changes of the address, the last one decides the version too', async (t) => {
  const scene = await given();
  const { resource } = await scene.addNode(node, operator(1));
  const move = (ip_address: string) => ({ nodeId: resource.id, changes: { ip_address } });
  const overtaken = overtakenBy(scene, () => scene.changeNode(move('2001:db8::1'), operator(2)));
  await overtaken.changeNode(move('192.0.2.2'), operator(3));
  t.like(await scene.nodes.list(), [{ ip_address: '192.0.2.2', ip_version: 4 }]);
});

test('A user becomes an operator by address, and authentication sees it at once', async (t) => {
  const { ada, grantPlatformRole, verifyEmail, users } = await given();
  const id = await ada();
  const grant = { email: 'ADA@example.com', role: 'operator' } as const;
  // The role needs a proved address, because any caller can register an address.
  const refused = await t.throwsAsync(grantPlatformRole(grant, operator(2)), { instanceOf: CommandRejected });
  t.is(refused.code, 'address_not_proved');
  t.regex(refused.message, /stowage user verify/);
  await verifyEmail({ email: 'ada@example.com' }, operator(9));
  t.is(await grantPlatformRole(grant, operator(2)), id);
  await grantPlatformRole(grant, operator(3));
  t.like(await users.access(id), { platformRoles: ['operator'] });
});

test('A revoked platform role is gone for authentication at once, and the other role stays', async (t) => {
  const { ada, grantPlatformRole, revokePlatformRole, verifyEmail, users } = await given();
  const id = await ada();
  const email = 'ADA@example.com';
  await verifyEmail({ email }, operator(9));
  await grantPlatformRole({ email, role: 'operator' }, operator(2));
  await grantPlatformRole({ email, role: 'auditor' }, operator(3));
  t.is(await revokePlatformRole({ email, role: 'operator' }, operator(4)), id);
  await revokePlatformRole({ email, role: 'operator' }, operator(5));
  t.like(await users.access(id), { platformRoles: ['auditor'] });
  const unknown = { email: 'bea@example.com', role: 'auditor' } as const;
  t.is(await outcomeOf(revokePlatformRole(unknown, operator(6))), 'user_not_found');
});

test('A platform role is not granted at an unknown address or one whose registration is in progress', async (t) => {
  const { grantPlatformRole, reservations, stores } = await given();
  const refused = (email: string) => outcomeOf(grantPlatformRole({ email, role: 'operator' }, operator(1)));
  t.is(await refused('ada@example.com'), 'user_not_found');
  const digest = stores.digests.email('ada@example.com');
  await reservations.reserve(digest, { userId: nodeId, change_id: null }, givenContext(2, at));
  t.is(await refused('ada@example.com'), 'user_not_found');
  t.is(await refused('ada'), 'invalid_request');
});
