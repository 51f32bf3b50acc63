import test from 'ava';
import { givenGuessing, ownerNetwork, strangers } from '../../../support/simulation/account-guessing.js';
import { guessingCampaign } from '../../../support/simulation/guessing-campaign.js';

const dayMs = 24 * 3_600_000;
const stranger = (index = 0) => strangers(index + 1).at(-1) ?? '';

test('Of wrong passwords from many networks at once, in three processes, 60 are checked in a day', async (t) => {
  const world = await givenGuessing(t);
  // When 60 clients of one /48 and 60 others type a wrong password at once
  const outcomes = await world.guessPasswords(strangers(120));
  // Then 60 hashes are computed
  t.is(world.passwordsChecked(), 60);
  t.is(outcomes.filter((one) => one === 'credentials_refused').length, 60);
  // An attempt that loses too many races for the record decides nothing.
  const decided = ['credentials_refused', 'TooManyAttempts', 'Overloaded'];
  t.deepEqual(
    outcomes.filter((one) => !decided.includes(one)),
    [],
  );
  // And the right password waits without a known device, also on the network of the owner, whose device signs in anywhere
  t.is(await world.signInByPassword(stranger(120)), 'TooManyAttempts');
  t.is(await world.signInByPassword(ownerNetwork), 'TooManyAttempts');
  t.is(await world.signInByPassword(world.owner), 'passed');
  t.is(await world.signInByPassword({ ...world.owner, ip: stranger() }), 'passed');
});

test('While wrong passwords and codes come from everywhere, the owner signs in at any moment', async (t) => {
  // `test/deep` types 10,000 of each.
  const { passwords, codes } = await guessingCampaign(t, { rounds: 4, seed: 11 });
  t.true(passwords <= 100 && codes <= 96, `${passwords} passwords and ${codes} codes`);
});

test('Wrong passwords of known devices and of strangers are at most 100 in any 24 hours', async (t) => {
  const world = await givenGuessing(t);
  const known = await Promise.all(strangers(4).map((ip) => world.signInFrom(ip)));
  for (let hour = 0; hour < 27; hour += 1) {
    // When clients of all kinds guess as fast as they may
    for (let round = 0; round < 3; round += 1) {
      await world.guessPasswords([...known, ...strangers(6, 10 + hour)]);
      world.clock.advance(dayMs / 24 / 3);
    }
  }
  const most = world.mostPasswordsInADay();
  t.true(most <= 100 && most > 90, `${most}`);
});

test('A guesser with one known device leaves the other devices their part', async (t) => {
  const world = await givenGuessing(t);
  const stolen = await world.signInFrom(stranger());
  for (let guess = 0; guess < 40; guess += 1) {
    await world.guessPasswords([stolen]);
    world.clock.advance(20 * 60_000);
  }
  t.is(world.passwordsChecked(), 20);
  t.is(await world.signInByPassword(stolen), 'TooManyAttempts');
  t.is(await world.signInByPassword(world.owner), 'passed');
});

test('Of wrong mailed codes from many networks, 56 are compared in a day, and the owner signs in meanwhile', async (t) => {
  const world = await givenGuessing(t);
  await world.verifyAddress();
  // When strangers ask for codes and guess at them all day
  for (let hour = 0; hour < 24; hour += 1) {
    await world.requestCode(stranger(hour));
    await world.guessCodes(strangers(5, hour));
    world.clock.advance(59 * 60_000);
  }
  t.is(world.codesCompared(), 56);
  // Then a code of six digits signs in from the known device, and without one the code of 100 bits in the mailbox
  t.is(await world.signInByCode({ ...world.owner, ip: stranger() }), 'passed');
  t.is(await world.typeCode((await world.codeInMailbox()) ?? '', stranger(200)), 'passed');
});

test('Strangers invalidate no code of a known device and use up none of its mails', async (t) => {
  const world = await givenGuessing(t);
  // Given a code that the owner asked for
  const code = await world.requestCode(world.owner);
  t.truthy(code);
  // When strangers ask for codes beyond the limits, and guess until no code takes more, also on the owner's network
  for (let round = 0; round < 8; round += 1) {
    await world.requestCode(stranger(round));
    await world.guessCodes([ownerNetwork, ...strangers(10, round)]);
    world.clock.advance(60_000);
  }
  // Then the owner's code signs in, and the next one is mailed
  t.is(await world.typeCode(code ?? '', world.owner), 'passed');
  t.truthy(await world.requestCode(world.owner));
});

test('A code that was asked for on one device signs in on another', async (t) => {
  for (const isKnown of [true, false]) {
    const world = await givenGuessing(t);
    const [from, to] = isKnown ? [world.owner, stranger()] : [stranger(), world.owner];
    t.is(await world.typeCode((await world.requestCode(from)) ?? '', to), 'passed');
  }
});

test('A stranger cannot try a code of the owner more than five times, and that leaves the owner five', async (t) => {
  const world = await givenGuessing(t);
  const code = (await world.requestCode(world.owner)) ?? '';
  await world.guessCodes(strangers(5));
  t.is(await world.typeCode(code, stranger(6)), 'credentials_refused');
  await world.guessCodes(Array.from({ length: 4 }, () => world.owner));
  t.is(await world.typeCode(code, world.owner), 'passed');
});

test('The last mail of an hour has a code of 100 bits, which lives for an hour and which no attempt ends', async (t) => {
  const world = await givenGuessing(t);
  await world.verifyAddress();
  // When strangers ask for all the mails of an hour
  const codes: string[] = [];
  for (let mail = 0; mail < 6; mail += 1) {
    codes.push((await world.requestCode(stranger(mail))) ?? '');
    world.clock.advance(60_000);
  }
  t.is(await world.requestCode(stranger()), null);
  // Then five have six digits
  t.deepEqual(
    codes.map((code) => /^\d{6}$/.test(code)),
    [true, true, true, true, true, false],
  );
  // When they type wrong codes of both kinds, and a newer code is mailed
  await world.guessCodes(strangers(80));
  const strong = codes.at(-1) ?? '';
  t.is(await world.typeCode('7QK2M-9XW4T-0B3HC-V8Z5N', stranger()), 'credentials_refused');
  world.clock.advance(59 * 60_000 - 1);
  t.regex((await world.requestCode(stranger())) ?? '', /^[0-9A-Z]{5}(-[0-9A-Z]{5}){3}$/);
  // Then it signs in once, in any spelling, until its hour is over
  t.is(await world.typeCode(strong.replaceAll('-', ' ').toLowerCase(), stranger(90)), 'passed');
  t.is(await world.typeCode(strong, stranger(90)), 'credentials_refused');
  const next = (await world.codeInMailbox()) ?? '';
  world.clock.advance(3_600_000);
  t.is(await world.typeCode(next, stranger(90)), 'credentials_refused');
});

test('After a wrong code, each mail without a known device has a code of 100 bits for a day', async (t) => {
  const world = await givenGuessing(t);
  await world.guessCodes([stranger()]);
  const isStrong = async () => ((await world.requestCode(stranger())) ?? '').includes('-');
  t.true(await isStrong());
  t.regex((await world.requestCode(world.owner)) ?? '', /^\d{6}$/);
  world.clock.advance(dayMs - 1);
  t.true(await isStrong());
  world.clock.advance(15 * 60_000);
  t.false(await isStrong());
});

test('A wrong code of 100 bits appends and counts nothing', async (t) => {
  const world = await givenGuessing(t);
  await world.guessCodes([stranger()]);
  await world.requestCode(stranger());
  const before = await world.written();
  for (let tried = 0; tried < 10; tried += 1) {
    t.is(await world.typeCode('7QK2M-9XW4T-0B3HC-V8Z5N', stranger()), 'credentials_refused');
  }
  t.deepEqual(await world.written(), before);
});

test('One event a day tells the owner that a limit is reached', async (t) => {
  const world = await givenGuessing(t);
  for (let day = 0; day < 2; day += 1) {
    // When both limits are reached, several times over
    await world.guessPasswords(strangers(64, day));
    await world.requestCode(stranger(day));
    await world.guessCodes(strangers(64, day));
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

test('A device is known for 90 days after its last sign-in, at its account alone', async (t) => {
  const world = await givenGuessing(t);
  const { token } = world.owner;
  world.clock.advance(80 * dayMs);
  t.is(await world.signInByPassword(world.owner), 'passed');
  world.clock.advance(90 * dayMs - 1);
  t.true(await world.isKnown(token));
  world.clock.advance(1);
  t.false(await world.isKnown(token));
  t.false(await world.isKnown(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`));
});

test('An account knows 16 devices, and the first to go is one that never came back', async (t) => {
  const world = await givenGuessing(t);
  const phone = await world.signInFrom(stranger());
  const laptop = await world.signInFrom(stranger(1));
  world.clock.advance(dayMs);
  // Given a phone that came back, and a laptop that did not
  t.is(await world.signInByPassword(phone), 'passed');
  const others = [];
  for (let count = 0; count < 15; count += 1) {
    world.clock.advance(60_000);
    others.push(await world.signInFrom(stranger(count)));
  }
  const known = [];
  for (const { token } of [world.owner, laptop, phone, ...others]) known.push(await world.isKnown(token));
  t.deepEqual(known, [false, false, true, ...others.map(() => true)]);
});

for (const [what, end] of [
  ['A change of the password', (world) => world.changePassword(ownerNetwork)],
  ['A sign-out everywhere', (world) => world.signOutEverywhere()],
] as readonly (readonly [string, (world: Awaited<ReturnType<typeof givenGuessing>>) => Promise<unknown>])[]) {
  test(`${what} ends the devices of the other sessions`, async (t) => {
    const world = await givenGuessing(t);
    const office = await world.signInFrom(stranger());
    await end(world);
    t.deepEqual([await world.isKnown(world.owner.token), await world.isKnown(office.token)], [true, false]);
  });
}

test('Two sign-outs everywhere at the same moment leave the device of the session known', async (t) => {
  const world = await givenGuessing(t);
  await Promise.all([world.signOutEverywhere(), world.signOutEverywhere()]);
  t.true(await world.isKnown(world.owner.token));
});

test('A ban ends all devices', async (t) => {
  const world = await givenGuessing(t);
  await world.ban();
  t.false(await world.isKnown(world.owner.token));
});

test('The device of a stranger who registered the address is not known after its owner proves it', async (t) => {
  const world = await givenGuessing(t);
  t.is(await world.signInByCode(stranger()), 'passed');
  t.false(await world.isKnown(world.owner.token));
});

test('A password alone makes no device known where a second factor is on', async (t) => {
  const world = await givenGuessing(t);
  const secret = await world.turnOnSecondFactor();
  t.is((await world.signInFrom(stranger())).token, null);
  t.true(await world.isKnown((await world.signInFrom(stranger(), secret)).token));
});

test('A wrong current password counts with sign-ins, and a live session counts as its device', async (t) => {
  const world = await givenGuessing(t);
  await world.guessPasswords(strangers(60));
  t.is(await world.signInByPassword(stranger(61)), 'TooManyAttempts');
  t.is(await world.changePassword(stranger(61)), 'passed');
});
