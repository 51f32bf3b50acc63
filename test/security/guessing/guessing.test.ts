import test from 'ava';
import { guessing } from '../../../src/security/guessing/guessing.js';
import { defaultLimits } from '../../../src/security/rates/limits.js';

const order = ['client', 'daily', 'pressure', 'turns', 'failures', 'accountFailures', 'code', 'pool'];

test('Each policy of the table names its layers in the order in which an attempt passes them', (t) => {
  for (const [name, policy] of Object.entries(guessing)) {
    const layers = Object.keys(policy);
    t.deepEqual(
      layers,
      order.filter((layer) => layers.includes(layer)),
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

test('Each policy counts failures under a name that no other policy uses', (t) => {
  const names = Object.values(guessing).flatMap((policy) => [
    ...('failures' in policy ? [policy.failures.name] : []),
    ...('accountFailures' in policy ? [policy.accountFailures.name] : []),
  ]);
  t.is(new Set(names).size, names.length);
});
