import test from 'ava';
import { makeBackground } from '../../../../src/kit/background.js';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import { makeShareCommands } from '../../../../src/areas/shares/commands/index.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import type { TryingClient } from '../../../../src/security/guessing/guard.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, givenShare, nextContext, sharePassword } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { simulateGuessing } from '../../../support/simulation/simulate-guessing.js';

/** Given a share, and a note of the client of each hash. */
async function given({ background }: { readonly background?: ReturnType<typeof makeBackground> } = {}) {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const service = { ...stores, commands };
  const { id, token } = await givenShare(service, await givenAsset(service));
  const hashed: (TryingClient | null | undefined)[] = [];
  const { passwords } = commands;
  const { verifyShare, visitorOf } = makeShareCommands({
    ...stores,
    ...{ ...commands, background: background ?? commands.background, onFailure: () => undefined },
    sharePasswords: {
      ...passwords,
      verify: (password, stored, by) => (hashed.push(by), passwords.verify(password, stored)),
      verifyNone: (password, by) => (hashed.push(by), passwords.verifyNone(password)),
    },
  });
  const verify = (tried: string, password: string, clientIp: string) =>
    verifyShare({ token: tried, password, client: { ip: clientIp, known: null } }, nextContext(stores));
  return { stores, id, token, hashed, verify, verifyShare, visitorOf };
}

test('A password of a share is hashed in the turn of its network, and one for no share behind all others', async (t) => {
  const { stores, token, hashed, verify, verifyShare, visitorOf } = await given();
  const { session } = await verify(token, sharePassword, '192.0.2.1');
  await t.throwsAsync(() => verify('x'.repeat(22), 'a guess', '192.0.2.1'));
  // A visitor who opened it before hashes in the same turn: sessions of own shares must not take a lane.
  const known = await visitorOf({ token, session });
  t.truthy(known);
  const visit = { token, password: sharePassword, client: { ip: '192.0.2.1', known } };
  await verifyShare(visit, nextContext(stores));
  const stranger = { ip: '192.0.2.1', known: null };
  t.deepEqual(hashed, [stranger, null, stranger]);
});

test('A throttled share is recorded later when the record could not be made at first', async (t) => {
  // Given a background that is full at first and has room later
  const room = makeBackground({ onFailure: (_, error) => t.fail(String(error)) });
  let isFull = true;
  const background: ReturnType<typeof makeBackground> = {
    ...room,
    startOnce: (...work) => {
      if (!isFull) room.startOnce(...work);
    },
  };
  const { stores, id, token, verify } = await given({ background });
  const clientIp = '198.51.100.1';
  for (let tried = 0; tried < 5; tried += 1) {
    await t.throwsAsync(() => verify(token, 'a guess', clientIp), { instanceOf: CommandRejected });
  }
  await t.throwsAsync(() => verify(token, 'a guess', clientIp), { instanceOf: TooManyAttempts });
  isFull = false;
  // When the next attempt is refused
  await t.throwsAsync(() => verify(token, 'a guess', clientIp), { instanceOf: TooManyAttempts });
  await room.settled();
  // Then the event is recorded once
  const events = await stores.eventStore.read(`share-${id}`, { from: 0n, limit: 10 });
  t.is(events.filter(({ type }) => type === 'ShareVerificationThrottled').length, 1);
});

test('Addresses that guess for a day never stop the right password from another address', async (t) => {
  // `test/deep` runs ninety addresses.
  await simulateGuessing(t, { attackers: 4, visitEveryMinutes: 40 });
  t.pass();
});
