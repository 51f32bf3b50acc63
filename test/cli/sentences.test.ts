import test from 'ava';
import { statusText } from '../../src/cli/commands/user-commands.js';
import { sayOf } from '../../src/cli/operate.js';

const id = '0196a000-0000-7000-8000-000000000001';
const key = { kid: 'k1', active: true, added_at: null, promoted_at: null, demoted_at: null };

test('A change of an account is one sentence, which says whether anything changed', (t) => {
  t.is(sayOf('user ban')({ user_id: id, changed: true }, 80), `The account ${id} is banned.`);
  t.is(
    sayOf('user ban')({ user_id: id, changed: false }, 80),
    `The account ${id} is banned. It was so before.`,
  );
});

test('A rotation names the next step, and shows a key that is to be copied', (t) => {
  const promoted = { ring: 'jwt', kid: 'k2', changed: true, next: 'keys retire later' };
  t.is(
    sayOf('keys promote')(promoted, 80),
    'The key k2 of the ring jwt is active.\nNext: keys retire later.',
  );
  t.regex(sayOf('keys add')({ ...promoted, entry: 'k2:c2VjcmV0' }, 80), /^entry: k2:c2VjcmV0$/m);
});

test('Keys, views and accounts are tables on a terminal of 80 characters', (t) => {
  const rings = {
    items: [{ ring: 'jwt', source: 'keys.json', keys: [key, { ...key, kid: 'k2', active: false }] }],
  };
  t.deepEqual(sayOf('keys list')(rings, 80).split('\n'), [
    'ring  kid  state   added_at  source',
    'jwt   k1   active  -         keys.json',
    'jwt   k2   known   -         keys.json',
  ]);
  const view = {
    name: 'users',
    collection: 'users@4.1',
    position: null,
    feeders: ['a-host-1'],
    quarantined: [],
  };
  const views = {
    head: '0000',
    items: [{ ...view, live: 1, building: { generation: 2 }, last_rebuild: null }],
    reactions: [],
  };
  t.deepEqual(sayOf('projection list')(views, 80).split('\n'), [
    'view       position  feeders   building  quarantined',
    'users@4.1  -         a-host-1  2         0',
  ]);
  const event = { id: 'e1', stream: 'order-o1', revision: '3', reason: 'order-o1 was deleted' };
  const withQuarantined = { ...views, reactions: [{ name: 'fulfil-orders', quarantined: [event] }] };
  t.deepEqual(sayOf('projection list')(withQuarantined, 80).split('\n').slice(3), [
    'quarantined_by_reactions:',
    '  reaction       stream    revision  reason',
    '  fulfil-orders  order-o1  3         order-o1 was deleted',
  ]);
});

test('Nodes and waiting payments are tables', (t) => {
  const node = {
    id: 'n1',
    name: 'edge-1',
    ip_address: '192.0.2.10',
    status: 'online',
    lb_enabled: true,
    lb_weight: 80,
  };
  const nodes = { items: [node, { ...node, id: 'n2', lb_enabled: false }] };
  t.deepEqual(sayOf('node list')(nodes, 80).split('\n'), [
    'id  name    address     status  weight',
    'n1  edge-1  192.0.2.10  online  80',
    'n2  edge-1  192.0.2.10  online  -',
  ]);
  const held = `standard-${'0'.repeat(64)}`;
  const payment = {
    id: held,
    reason: 'unlinked_transaction',
    received_at: '2026-11-27T08:24:59.123Z',
    notifications: [],
  };
  t.deepEqual(
    sayOf('payments unmatched')({ items: [payment], next_cursor: 'c1' }, 120)
      .split('\n')
      .slice(1),
    [`${held}  unlinked_transaction  2026-11-27T08:24`, '', 'There are more: --cursor c1'],
  );
});

test('Without a service the status says so', (t) => {
  const status = { ready: false, process: null, version: '1', reasons: ['no service runs'], components: [] };
  t.is(statusText(status, 80).split('\n')[0], 'No service runs on this data directory. Its stores answer.');
  t.notRegex(statusText(status, 80), /ready/);
});

test('The status names each component with its kind, but for stores, whose name says it', (t) => {
  const fields = { state: 'up', lag_seconds: 2, feeders: ['p1'], problem: null };
  const components = [
    { kind: 'store', name: 'events', ...fields, lag_seconds: null },
    { kind: 'view', name: 'projects', ...fields, problem: 'it waits' },
  ];
  const status = { ready: true, process: '7', version: '1', reasons: [], components };
  t.deepEqual(statusText(status, 80).split('\n'), [
    'Process 7, version 1, is ready.',
    '',
    'component      state  lag      feeders',
    'events         up     unknown  -',
    'view projects  up     2 s      p1',
    '',
    'Problems:',
    'view projects: it waits',
  ]);
});

test('A result of another shape is shown as fields, so nothing of it is lost', (t) => {
  t.is(sayOf('keys list')({ items: [{ ring: 'jwt' }] }, 80), 'ring\njwt');
  t.is(sayOf('user verify')({ other: 1 }, 80), 'other: 1');
});
