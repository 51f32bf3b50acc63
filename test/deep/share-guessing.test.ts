import test from 'ava';
import { givenGuessedShare, pin } from '../support/simulation/share-guessing.js';
import { simulateGuessing } from '../support/simulation/simulate-guessing.js';

test('Ninety addresses that guess for a day never stop the right password from another address', async (t) => {
  t.timeout(5 * 60_000);
  await simulateGuessing(t, { attackers: 90, visitEveryMinutes: 10 });
  t.pass();
});

test('Of 1,200 wrong passwords from as many networks, a share with a short one checks 1,000', async (t) => {
  const { verify, guess, reached, clock } = await givenGuessedShare(t);
  let checked = 0;
  for (let batch = 0; batch < 12; batch += 1) {
    checked += await guess(100, batch);
    clock.advance(15 * 60_000);
  }
  t.is(checked, 1_000);
  t.is(await reached(), 1);
  t.is(await verify(pin, '192.0.2.1'), 'TooManyAttempts');
});
