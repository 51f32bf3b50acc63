import test from 'ava';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { givenGuessing, ownerNetwork, strangers } from '../support/simulation/account-guessing.js';

/* DEEP_SEED=<printed> replays a run. DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
const dayMs = 24 * 3_600_000;

test('Of 10,000 distributed wrong passwords and codes, 100 and 96 are checked in a day, and the owner signs in', async (t) => {
  t.timeout(10 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const world = await givenGuessing(t);
  // Given guessers on a network that the owner shares, and on thousands of others
  const known = strangers(1, 250);
  t.is(await world.signInByPassword(known[0] ?? ''), 'passed');
  const rounds = Math.round(100 * budget);
  let ownerSignIns = 0;
  for (let round = 0; round < rounds; round += 1) {
    // When they type 100 wrong passwords and 100 wrong codes at once, at random moments of some 30 hours
    const others = strangers(99, round % 240);
    await world.requestCode(others[Math.floor(random() * others.length)] ?? '');
    await world.requestCode(known[0] ?? '');
    const guessers = [...known, ...others].sort(() => random() - 0.5);
    const codesBefore = world.codesCompared();
    await Promise.all([world.guessPasswords(guessers), world.guessCodes(guessers)]);
    t.true(world.codesCompared() - codesBefore <= 96);
    // Then the owner signs in by both ways, from the known network
    if (round % 10 === 0) {
      t.is(await world.signInByPassword(ownerNetwork), 'passed', `round ${round}`);
      world.clock.advance(60_000);
      ownerSignIns += 1;
    }
    world.clock.advance(Math.floor(random() * 2 * ((1.25 * dayMs) / rounds)));
  }
  t.true(ownerSignIns >= 10 * budget);
  const passwords = world.mostPasswordsInADay();
  const codes = world.mostCodesInADay();
  t.log(`${passwords} passwords and ${codes} codes were checked in a day`);
  t.true(passwords <= 100 && passwords > 60, `${passwords} passwords`);
  t.true(codes <= 96 && codes > 56, `${codes} codes`);
});

test('While strangers use up everything, the owner signs in from a known network by password and by code', async (t) => {
  t.timeout(10 * 60_000);
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const world = await givenGuessing(t);
  for (let hour = 0; hour < Math.round(48 * budget); hour += 1) {
    const others = strangers(100, hour % 240);
    for (const stranger of others.slice(0, 5)) await world.requestCode(stranger);
    await Promise.all([world.guessPasswords(others), world.guessCodes(others)]);
    t.is(await world.signInByPassword(ownerNetwork), 'passed', `hour ${hour}`);
    t.is(await world.signInByCode(ownerNetwork), 'passed', `hour ${hour}`);
    world.clock.advance(Math.floor((0.5 + random()) * 3_600_000));
  }
  t.true(world.mostPasswordsInADay() <= 60);
  t.true(world.mostCodesInADay() <= 56);
});
