import test from 'ava';
import { makeCountPasswords } from '../../../../src/areas/shares/commands/count-passwords.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { makeEvents, uniqueStream } from '../../../contracts/event-store-fixtures.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, givenShare, nextContext } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';

const password = 'Correct-Horse-7';
const client = { client: null, userAgent: null };

/** Returns stores in which `p1` was the active pepper, and `p2` is the active one now. */
async function given() {
  const stores = await givenStores();
  const [old, now] = [
    givenCommands(stores, { peppers: ['p1'] }),
    givenCommands(stores, { peppers: ['p2', 'p1'] }),
  ];
  const next = () => nextContext(stores);
  const register = async (email: string) => (await old.register({ email, password, ...client }, next())).user;
  const login = { password, client: { ip: '198.51.100.7', known: null }, userAgent: null };
  return {
    ...{ stores, old, now, next, register },
    service: { ...stores, commands: old },
    login: (email: string) => now.login({ ...login, email }, next()),
    count: makeCountPasswords(stores),
  };
}

test('A user counts while the present password is hashed with the pepper', async (t) => {
  const { stores, now, next, register, login, count } = await given();
  const none = { shares: 0, someShares: [] };
  t.deepEqual(await count('p1'), { users: 0, ...none });
  // Given users who sign in, are erased, stay away, or have voided credentials
  await register('ada@example.com');
  const bob = await register('bob@example.com');
  await register('eve@example.com');
  const joe = await register('joe@example.com');
  t.deepEqual(await count('p1'), { users: 4, ...none });
  await login('ada@example.com');
  t.deepEqual(await count('p1'), { users: 3, ...none });
  t.deepEqual(await count('p2'), { users: 1, ...none });
  await now.eraseUser({ userId: bob.id }, next());
  t.deepEqual(await count('p1'), { users: 2, ...none });
  const email_digest = stores.digests.email('joe@example.com');
  const target = { aggregate: userAggregate, id: joe.id };
  await stores.handler.handle(target, { type: 'ProveEmail', email_digest }, next());
  t.deepEqual(await count('p1'), { users: 1, ...none });
});

test('A share counts while it is not revoked and its present password is hashed with the pepper', async (t) => {
  const { stores, service, old, now, next, count } = await given();
  const place = await givenAsset(service);
  const { projectId } = place;
  const [first, second] = [await givenShare(service, place), await givenShare(service, place)];
  const ended = await givenShare(service, place, {
    expires_at: new Date(stores.clock.now().getTime() + 1).toISOString(),
  });
  stores.clock.advance(1_000);
  const all = [first, second, ended].map(({ id: shareId }) => ({ shareId, projectId }));
  t.like(await count('p1'), { users: 0, shares: 3 });
  t.deepEqual(new Set((await count('p1')).someShares), new Set(all), 'an expired share counts');
  // When one share is revoked, and the password of another is set again, first with the old pepper
  await now.revokeShare({ projectId, shareId: first.id }, next());
  const change = { projectId, shareId: second.id, changes: { password: 'sesame, open' } };
  await old.changeShare(change, next());
  t.is((await count('p1')).shares, 2);
  await now.changeShare(change, next());
  // Then only the expired share counts
  t.deepEqual(await count('p1'), {
    users: 0,
    shares: 1,
    someShares: [{ shareId: ended.id, projectId }],
  });
  t.is((await count('p2')).shares, 1);
});

test('The count covers every page of the log and names a few shares', async (t) => {
  const { stores, service, count, register } = await given();
  const place = await givenAsset(service);
  // Given shares on several pages of the log
  for (let page = 0; page < 3; page += 1) {
    for (let n = 0; n < 3; n += 1) await givenShare(service, place);
    await stores.eventStore.append(uniqueStream(), 'no-stream', makeEvents(500));
  }
  await register('ada@example.com');
  const counted = await count('p1');
  t.like(counted, { users: 1, shares: 9 });
  t.is(counted.someShares.length, 5);
});
