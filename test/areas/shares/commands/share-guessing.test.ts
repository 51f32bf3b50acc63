import test from 'ava';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { nextContext } from '../../../support/given/given-share.js';
import { strangers } from '../../../support/simulation/account-guessing.js';
import { givenGuessedShare, pin } from '../../../support/simulation/share-guessing.js';

const dayMs = 24 * 3_600_000;

test('Of wrong passwords for a share with a short one, 1,000 are checked in a day, over all clients', async (t) => {
  // `test/deep` types them all.
  const { verify, guessUntilLimit, reached, clock, commands } = await givenGuessedShare(t);
  // When as many networks guess as a day allows, and more
  await guessUntilLimit(0);
  // Then the sharer gets one event
  t.is(await reached(), 1);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
  t.is(await reached(), 1);
  // And a day later, the right password opens the share
  clock.advance(dayMs + 15 * 60_000);
  t.is(await verify(pin, '192.0.2.1'), 'passed');
  t.deepEqual(commands.failures, []);
});

test('A new password opens a share that was guessed at, at once', async (t) => {
  const { verify, guessUntilLimit, change } = await givenGuessedShare(t);
  await guessUntilLimit(0);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
  await change('a longer password');
  t.is(await verify('a longer password', '192.0.2.1'), 'passed');
});

test('The class of a password follows its length', async (t) => {
  const { stores, share, change } = await givenGuessedShare(t);
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
  const { service, share, commands } = await givenGuessedShare(t);
  const visits = strangers(60, 7).map((clientIp) =>
    commands
      .verifyShare(
        { token: share.token, password: pin, client: { ip: clientIp, known: null } },
        nextContext(service),
      )
      .catch((error: unknown) => error),
  );
  const failed = (await Promise.all(visits)).filter((one) => one instanceof Error);
  t.false(failed.some((error) => error instanceof TooManyAttempts));
  t.deepEqual(failed, []);
  const budgets = await service.stateStore.list('guessing/', { limit: 10 });
  t.deepEqual(budgets, []);
});

test('At the limit of a day, visitors who opened the share with its password go on, and others wait', async (t) => {
  const { open, verify, guessUntilLimit, change, clock } = await givenGuessedShare(t);
  const { session } = await open(pin, '192.0.2.1');
  // Given a session that has ended
  clock.advance(13 * 3_600_000);
  await guessUntilLimit(0);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
  // Then its visitor opens the share, also on the network of a guesser
  for (const ip of ['192.0.2.1', strangers(1)[0] ?? '']) t.is(await verify(pin, ip, session), 'passed');
  // And waits after wrong passwords like anyone
  for (let tried = 0; tried < 5; tried += 1)
    t.is(await verify('0000', '192.0.2.1', session), 'share_password_wrong');
  t.is(await verify(pin, '192.0.2.1', session), 'TooManyAttempts');
  // And with another password, the session shows nothing
  await change('4712');
  await guessUntilLimit(2);
  t.is(await verify('4712', '192.0.2.1', session), 'TooManyAttempts');
});
