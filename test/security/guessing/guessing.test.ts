import test from 'ava';
import { guessing } from '../../../src/security/guessing/guessing.js';
import { defaultLimits } from '../../../src/security/rates/limits.js';

test('Each policy of the table names its parts in the order in which an attempt passes them', (t) => {
  const order = ['client', 'failures', 'code', 'pool'];
  for (const [name, policy] of Object.entries(guessing)) {
    const parts = Object.keys(policy);
    t.deepEqual(
      parts,
      order.filter((part) => parts.includes(part)),
      name,
    );
  }
});

test('The limits of clients are those of the table and fail closed', (t) => {
  const named = Object.values(guessing).flatMap((policy) => [
    ...('client' in policy ? Object.entries(policy.client) : []),
    ...('code' in policy ? Object.entries(policy.code.mails) : []),
  ]);
  const limits = new Map(Object.entries(defaultLimits));
  for (const [name, limit] of named) t.deepEqual(limits.get(name), { ...limit, failsClosed: true }, name);
  t.is(new Set(named.map(([name]) => name)).size, 7);
});
