import type { ExecutionContext } from 'ava';
import { makeSeededRandom } from '../fakes/clock.js';
import { givenGuessing, ownerNetwork, strangers } from './account-guessing.js';

const dayMs = 24 * 3_600_000;

/**
 * Types 100 wrong passwords and 100 wrong codes a round at Ada's account, from as many networks and one device that a thief holds, at
 * random moments of some 30 hours. After each round the owner signs in: from a known device by both ways, on the network of
 * a guesser too, and from a new device by a mailed code.
 * @returns the most passwords and codes that were checked in a day
 */
export async function guessingCampaign(
  t: ExecutionContext,
  { rounds, seed }: { readonly rounds: number; readonly seed: number },
): Promise<{ readonly passwords: number; readonly codes: number }> {
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const world = await givenGuessing(t);
  await world.verifyAddress();
  const stolen = await world.signInFrom(ownerNetwork);
  let waits = 0;
  for (let round = 0; round < rounds; round += 1) {
    const others = strangers(98, round % 240);
    await world.requestCode(others[Math.floor(random() * others.length)] ?? '');
    const guessers = [ownerNetwork, stolen, ...others].sort(() => random() - 0.5);
    await Promise.all([world.guessPasswords(guessers), world.guessCodes(guessers)]);
    const of = `round ${round}`;
    const known = { ...world.owner, ip: others[0] ?? '' };
    for (const device of [world.owner, known]) t.is(await world.signInByPassword(device), 'passed', of);
    t.is(await world.signInByCode(known), 'passed', of);
    await signInFromNewDevice(strangers(99, round % 240).at(-1) ?? '', of);
    world.clock.advance(60_000 + Math.floor(random() * 2 * ((1.25 * dayMs) / rounds)));
  }
  // Only a code of six digits that was mailed before the first wrong code is ended, and the next mail is a minute away.
  t.true(waits <= 1, `${waits} waits`);
  return { passwords: world.mostPasswordsInADay(), codes: world.mostCodesInADay() };

  /** Types the code of a new mail, or of the mailbox where no mail is allowed. */
  async function signInFromNewDevice(ip: string, of: string): Promise<void> {
    const code = (await world.requestCode(ip)) ?? (await world.codeInMailbox()) ?? '';
    if ((await world.typeCode(code, ip)) === 'passed') return;
    waits += 1;
    world.clock.advance(60_000);
    t.is(await world.typeCode((await world.requestCode(ip)) ?? '', ip), 'passed', of);
  }
}
