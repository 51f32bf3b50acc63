import test from 'ava';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, givenShare, nextContext } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { strangers } from '../../../support/simulation/account-guessing.js';

const pin = '4711';
const dayMs = 24 * 3_600_000;

/** Shares an asset behind a PIN. Waiting takes no time. */
async function given() {
  const clock = { ...makeTestClock(), sleep: () => Promise.resolve() };
  const stores = await givenStores({ clock });
  const hashes: unknown[] = [];
  const commands = givenCommands(stores, { onHash: (input) => hashes.push(input) });
  const service = { ...stores, commands };
  const asset = await givenAsset(service);
  const share = await givenShare(service, asset, { password: pin });
  /** @param session of an earlier visit */
  const open = async (password: string, clientIp: string, session?: string) => {
    const known = await commands.visitorOf({ token: share.token, session });
    return commands.verifyShare({ token: share.token, password, clientIp, known }, nextContext(service));
  };
  const verify = (password: string, clientIp: string, session?: string) =>
    outcomeOf(open(password, clientIp, session));
  /** Types wrong passwords from as many networks. Returns how many were hashed. */
  const guess = async (count: number, batch: number): Promise<number> => {
    hashes.length = 0;
    await Promise.all(strangers(count, batch).map((clientIp) => verify('0000', clientIp)));
    return hashes.length;
  };
  const reached = async () => {
    await commands.background.settled();
    const events = await stores.eventStore.read(`share-${share.id}`);
    return events.filter(({ type }) => type === 'ShareGuessingLimitReached').length;
  };
  const change = (password: string) =>
    commands.changeShare(
      { projectId: asset.projectId, shareId: share.id, changes: { password } },
      nextContext(service),
    );
  return { stores, service, clock, share, open, verify, guess, reached, change, commands };
}

test('Of wrong passwords for a share with a short one, 1,000 are checked in a day, over all clients', async (t) => {
  const { verify, guess, reached, clock, commands } = await given();
  let checked = 0;
  // When 1,200 networks guess within some hours
  for (let batch = 0; batch < 12; batch += 1) {
    checked += await guess(100, batch);
    clock.advance(15 * 60_000);
  }
  // Then 1,000 guesses are hashed, and the sharer gets one event
  t.is(checked, 1_000);
  t.is(await reached(), 1);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
  t.is(await reached(), 1);
  // And a day later, the right password opens the share
  clock.advance(dayMs + 15 * 60_000);
  t.is(await verify(pin, '192.0.2.1'), 'passed');
  t.deepEqual(commands.failures, []);
});

test('A new password opens a share that was guessed at, at once', async (t) => {
  const { verify, guess, change } = await given();
  for (let batch = 0; batch < 11; batch += 1) await guess(100, batch);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
  await change('a longer password');
  t.is(await verify('a longer password', '192.0.2.1'), 'passed');
});

test('The class of a password follows its length', async (t) => {
  const { stores, share, change } = await given();
  const classNow = async () => {
    const { state } = await stores.handler.load(shareAggregate, share.id);
    return state.status === 'open' ? state.password_class : null;
  };
  t.is(await classNow(), 'short');
  for (const [password, expected] of [
    ['12345678', 'long'],
    ['1234567', 'short'],
    ['äöüäöüäö', 'long'],
  ] as const) {
    await change(password);
    t.is(await classNow(), expected, password);
  }
});

test('Right passwords use up no part of the day, also when many visitors come at once', async (t) => {
  const { service, share, commands } = await given();
  const visits = strangers(60, 7).map((clientIp) =>
    commands
      .verifyShare({ token: share.token, password: pin, clientIp }, nextContext(service))
      .catch((error: unknown) => error),
  );
  const failed = (await Promise.all(visits)).filter((one) => one instanceof Error);
  t.false(failed.some((error) => error instanceof TooManyAttempts));
  t.deepEqual(failed, []);
  const budgets = await service.stateStore.list('guessing/', { limit: 10 });
  t.deepEqual(budgets, []);
});

test('At the limit of a day, visitors who opened the share with its password go on, and others wait', async (t) => {
  const { open, verify, guess, change, clock } = await given();
  const { session } = await open(pin, '192.0.2.1');
  // Given a session that has ended
  clock.advance(13 * 3_600_000);
  for (let batch = 0; batch < 11; batch += 1) await guess(100, batch);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
  // Then its visitor opens the share, also on the network of a guesser
  for (const ip of ['192.0.2.1', strangers(1)[0] ?? '']) t.is(await verify(pin, ip, session), 'passed');
  // And waits after wrong passwords like anyone
  for (let tried = 0; tried < 5; tried += 1)
    t.is(await verify('0000', '192.0.2.1', session), 'share_password_wrong');
  t.is(await verify(pin, '192.0.2.1', session), 'TooManyAttempts');
  // And with another password, the session shows nothing
  await change('4712');
  for (let batch = 0; batch < 11; batch += 1) await guess(100, batch);
  t.is(await verify('4712', '192.0.2.1', session), 'TooManyAttempts');
});
