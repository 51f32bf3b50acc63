import test from 'ava';
import { givenGuessing, ownerNetwork, strangers } from '../../../support/simulation/account-guessing.js';

const dayMs = 24 * 3_600_000;

test('Of wrong passwords from many networks at once, in three processes, 60 are checked in a day', async (t) => {
  const world = await givenGuessing(t);
  // When 150 clients of one /48 and 150 others type a wrong password at once
  const outcomes = await world.guessPasswords(strangers(300));
  // Then 60 hashes are computed
  t.is(world.passwordsChecked(), 60);
  t.is(outcomes.filter((one) => one === 'credentials_refused').length, 60);
  // An attempt that loses too many races for the record decides nothing.
  const decided = ['credentials_refused', 'TooManyAttempts', 'Overloaded'];
  t.deepEqual(
    outcomes.filter((one) => !decided.includes(one)),
    [],
  );
  // And the right password of a stranger's network waits, but the owner's network signs in
  t.is(await world.signInByPassword(strangers(301).at(-1) ?? ''), 'TooManyAttempts');
  t.is(await world.signInByPassword(ownerNetwork), 'passed');
});

test('Wrong passwords of known and unknown networks are at most 100 in any 24 hours', async (t) => {
  const world = await givenGuessing(t);
  const known = strangers(4);
  for (const network of known) t.is(await world.signInByPassword(network), 'passed');
  for (let hour = 0; hour < 40; hour += 1) {
    // When clients of all kinds guess as fast as they may
    for (let round = 0; round < 3; round += 1) {
      await world.guessPasswords([...known, ...strangers(6, 10 + hour)]);
      world.clock.advance(dayMs / 24 / 3);
    }
  }
  const most = world.mostPasswordsInADay();
  t.true(most <= 100 && most > 90, `${most}`);
});

test('A guesser on one known network leaves the other known networks their part', async (t) => {
  const world = await givenGuessing(t);
  const cafe = strangers(1);
  t.is(await world.signInByPassword(cafe[0] ?? ''), 'passed');
  for (let guess = 0; guess < 40; guess += 1) {
    await world.guessPasswords(cafe);
    world.clock.advance(20 * 60_000);
  }
  t.is(world.passwordsChecked(), 20);
  t.is(await world.signInByPassword(cafe[0] ?? ''), 'TooManyAttempts');
  t.is(await world.signInByPassword(ownerNetwork), 'passed');
});

test('Of wrong mailed codes from many networks, 56 are compared in a day', async (t) => {
  const world = await givenGuessing(t);
  // When strangers ask for codes and guess at them all day
  for (let quarter = 0; quarter < 95; quarter += 1) {
    await world.requestCode(strangers(1, quarter)[0] ?? '');
    await world.guessCodes(strangers(5, quarter));
    world.clock.advance(15 * 60_000);
  }
  t.is(world.codesCompared(), 56);
  t.is(await world.signInByCode(ownerNetwork), 'passed');
});

test('Strangers invalidate no code of the owner and use up none of the mails', async (t) => {
  const world = await givenGuessing(t);
  // Given a code that the owner asked for
  const code = await world.requestCode(ownerNetwork);
  t.truthy(code);
  // When strangers ask for codes beyond the limits, and guess until no code takes more
  for (let round = 0; round < 8; round += 1) {
    await world.requestCode(strangers(1, round)[0] ?? '');
    await world.guessCodes(strangers(10, round));
    world.clock.advance(60_000);
  }
  // Then the owner's code signs in, and the next one is mailed
  t.is(await world.typeCode(code ?? '', ownerNetwork), 'passed');
  t.truthy(await world.requestCode(ownerNetwork));
});

test('A code that was asked for on one network signs in on another', async (t) => {
  for (const [from, to] of [
    [ownerNetwork, strangers(1)[0] ?? ''],
    [strangers(1)[0] ?? '', ownerNetwork],
  ] as const) {
    const world = await givenGuessing(t);
    const code = await world.requestCode(from);
    t.is(await world.typeCode(code ?? '', to), 'passed');
  }
});

test('A stranger cannot try a code of the owner more than five times, and that leaves the owner five', async (t) => {
  const world = await givenGuessing(t);
  const code = (await world.requestCode(ownerNetwork)) ?? '';
  await world.guessCodes(strangers(5));
  t.is(await world.typeCode(code, strangers(6).at(-1) ?? ''), 'credentials_refused');
  await world.guessCodes(Array.from({ length: 4 }, () => ownerNetwork));
  t.is(await world.typeCode(code, ownerNetwork), 'passed');
});

test('One event a day tells the owner that a limit is reached', async (t) => {
  const world = await givenGuessing(t);
  for (let day = 0; day < 3; day += 1) {
    // When both limits are reached, several times over
    await world.guessPasswords(strangers(80, day));
    await world.requestCode(strangers(1, day)[0] ?? '');
    await world.guessCodes(strangers(80, day));
    await world.settled();
    // Then one event a day says so
    t.is((await world.limitsReached()).length, day + 1);
    world.clock.advance(dayMs + 15 * 60_000);
  }
});

test('An address without an account gets the same replies after the same store calls', async (t) => {
  const world = await givenGuessing(t);
  const known = await world.observe('ada@example.com');
  const unknown = await world.observe('nobody@example.com');
  t.deepEqual(unknown, known);
  t.true(known.some(({ outcome }) => outcome === 'TooManyAttempts'));
});

test('A network is forgotten after 90 days without a sign-in, and with a change of the password elsewhere', async (t) => {
  const world = await givenGuessing(t);
  const office = strangers(1)[0] ?? '';
  t.is(await world.signInByPassword(office), 'passed');
  t.true(await world.isKnown(office));
  await world.changePassword(ownerNetwork);
  t.false(await world.isKnown(office));
  t.true(await world.isKnown(ownerNetwork));
  world.clock.advance(90 * dayMs - 1);
  t.true(await world.isKnown(ownerNetwork));
  world.clock.advance(1);
  t.false(await world.isKnown(ownerNetwork));
});

test('A stranger who registered the address is no known client after its owner proves it', async (t) => {
  const world = await givenGuessing(t);
  const owner = strangers(1)[0] ?? '';
  t.is(await world.signInByCode(owner), 'passed');
  t.deepEqual([await world.isKnown(ownerNetwork), await world.isKnown(owner)], [false, true]);
});

test('A password alone makes no network known where a second factor is on', async (t) => {
  const world = await givenGuessing(t);
  const secret = await world.turnOnSecondFactor();
  const thief = strangers(1)[0] ?? '';
  t.is(await world.signInByPassword(thief), 'passed');
  t.false(await world.isKnown(thief));
  t.is(await world.signInByPassword(thief, secret), 'passed');
  t.true(await world.isKnown(thief));
});

test('A wrong current password counts in the same budget as a sign-in', async (t) => {
  const world = await givenGuessing(t);
  await world.guessPasswords(strangers(60));
  t.is(await world.changePassword(strangers(61).at(-1) ?? ''), 'TooManyAttempts');
  t.is(await world.changePassword(ownerNetwork), 'passed');
});
