import test from 'ava';
import { checkDescription, nodeAggregate } from '../../../../src/areas/nodes/domain/node/node.js';
import { description, nodeChanged, nodeRegistered, nodeRemoved } from '../../../support/examples/node.js';
import { given } from '../../../support/given/given.js';

const register = { type: 'Register', description } as const;
const change = { type: 'Change', changes: { lb_weight: 10 } } as const;
const remove = { type: 'Remove' } as const;

test('A node is registered, changed and removed', (t) => {
  given(nodeAggregate).when(register).then(t, nodeRegistered);
  given(nodeAggregate, nodeRegistered).when(change).then(t, nodeChanged);
  given(nodeAggregate, nodeRegistered, nodeChanged).when(remove).then(t, nodeRemoved);
});

test('A removed node stays removed', (t) => {
  given(nodeAggregate, nodeRegistered, nodeRemoved).when(register).thenNothing(t);
  given(nodeAggregate, nodeRegistered, nodeRemoved).when(change).thenRejected(t, 'node_not_found');
});

test('A node that does not exist cannot be changed or removed', (t) => {
  given(nodeAggregate).when(change).thenRejected(t, 'node_not_found');
  given(nodeAggregate).when(remove).thenRejected(t, 'node_not_found');
});

test("A node's address gets its usual spelling, and its version follows from it", (t) => {
  const spelled = (ip_address: string): unknown[] => {
    const checked = checkDescription({ ...description, ip_address });
    return [checked.ip_address, checked.ip_version];
  };
  t.deepEqual(spelled('192.0.2.10'), ['192.0.2.10', 4]);
  t.deepEqual(spelled('2001:DB8:0:0::0001'), ['2001:db8::1', 6]);
  t.deepEqual(spelled('::ffff:192.0.2.10'), ['192.0.2.10', 4]);
});

test('The texts of a node are counted in characters, as the published document counts them', (t) => {
  const [note, dnsprovider_record_id] = ['\u{1f310}'.repeat(1_000), '\u{1f310}'.repeat(255)];
  t.like(checkDescription({ ...description, note, dnsprovider_record_id }), { note, dnsprovider_record_id });
  for (const longer of [{ note: `${note}x` }, { dnsprovider_record_id: `${dnsprovider_record_id}x` }])
    t.throws(() => checkDescription({ ...description, ...longer }), { message: /characters/ });
});
