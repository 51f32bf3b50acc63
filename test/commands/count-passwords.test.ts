import test from 'ava';
import { makeCountPasswords } from '../../src/commands/count-passwords.js';
import { userAggregate } from '../../src/domain/user/user.js';
import { makeEvents, uniqueStream } from '../contracts/event-store-fixtures.js';
import { givenCommands } from '../support/given-commands.js';
import { givenAsset, givenShare, nextContext } from '../support/given-share.js';
import { givenStores } from '../support/given-stores.js';

const password = 'Correct-Horse-7';
const client = { clientIp: null, userAgent: null };

/** A world in which `p1` was the active pepper, and `p2` is now. */
async function given() {
  const stores = await givenStores();
  const [old, now] = [
    givenCommands(stores, { peppers: ['p1'] }),
    givenCommands(stores, { peppers: ['p2', 'p1'] }),
  ];
  const next = () => nextContext(stores);
  const register = async (email: string) => (await old.register({ email, password, ...client }, next())).user;
  const login = { password, clientIp: '198.51.100.7', userAgent: null };
  return {
    ...{ stores, old, now, next, register },
    service: { ...stores, commands: old },
    login: (email: string) => now.login({ ...login, email }, next()),
    count: makeCountPasswords(stores),
  };
}

test('users count as long as their present password is hashed with the pepper', async (t) => {
  const { stores, now, next, register, login, count } = await given();
  const none = { shares: 0, someShares: [] };
  t.deepEqual(await count('p1'), { users: 0, ...none });
  // Given somebody who signs in, is erased, never comes back, or has been voided
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
  const emailDigest = stores.digests.email('joe@example.com');
  const target = { aggregate: userAggregate, id: joe.id };
  await stores.handler.handle(target, { type: 'ProveEmail', emailDigest }, next());
  t.deepEqual(await count('p1'), { users: 1, ...none });
});

test('shares count as long as they are open and their present password is hashed with the pepper', async (t) => {
  const { stores, service, old, now, next, count } = await given();
  const place = await givenAsset(service);
  const { projectId } = place;
  const [first, second] = [await givenShare(service, place), await givenShare(service, place)];
  const ended = await givenShare(service, place, { expiresAt: new Date(stores.clock.now().getTime() + 1) });
  stores.clock.advance(1_000);
  const all = [first, second, ended].map(({ id: shareId }) => ({ shareId, projectId }));
  t.like(await count('p1'), { users: 0, shares: 3 });
  t.deepEqual(new Set((await count('p1')).someShares), new Set(all), 'one that has ended may be prolonged');
  // When one is revoked, another one's password is set again, first with the old pepper
  await now.revokeShare({ projectId, shareId: first.id }, next());
  const change = { projectId, shareId: second.id, changes: { password: 'sesame, open' } };
  await old.changeShare(change, next());
  t.is((await count('p1')).shares, 2);
  await now.changeShare(change, next());
  // Then
  t.deepEqual(await count('p1'), {
    users: 0,
    shares: 1,
    someShares: [{ shareId: ended.id, projectId }],
  });
  t.is((await count('p2')).shares, 1);
});

test('of a log of many pages every password is counted, and a few shares are named', async (t) => {
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
