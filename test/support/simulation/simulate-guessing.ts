import type { ExecutionContext } from 'ava';
import { makeShareCommands } from '../../../src/areas/shares/commands/index.js';
import { TooManyAttempts } from '../../../src/areas/shared/rejections.js';
import { CommandRejected } from '../../../src/event-sourcing/ports/errors.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeShareSessions } from '../../../src/keys/codes/mac-tokens.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { givenCommands } from '../given/given-commands.js';
import { givenAsset, givenShare, nextContext, sharePassword } from '../given/given-share.js';
import { givenStores } from '../given/given-stores.js';

const dayMs = 24 * 3_600_000;

/** Lets so many addresses guess at a share's password for a day of virtual time, while others visit it with the right one. */
export async function simulateGuessing(
  t: ExecutionContext,
  { attackers, visitEveryMinutes }: { readonly attackers: number; readonly visitEveryMinutes: number },
): Promise<void> {
  // Given a share, and time that passes only as the simulation says
  const stores = await givenStores();
  const { clock } = stores;
  const given = givenCommands(stores);
  const { token, id } = await givenShare(
    { ...stores, commands: given },
    await givenAsset({ ...stores, commands: given }),
  );
  let guesses = 0;
  const { passwords, background } = given;
  const counting = {
    ...passwords,
    verify: (password: string, stored: string) => {
      if (password !== sharePassword) guesses += 1;
      return passwords.verify(password, stored);
    },
  };
  const { verifyShare } = makeShareCommands({
    ...stores,
    ...{ ...given, background, onFailure: () => undefined },
    sharePasswords: counting,
    shareSessions: makeShareSessions(makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 5) }])),
  });
  const start = clock.now().getTime();
  const verify = (password: string, clientIp: string) =>
    verifyShare({ token, password, client: { ip: clientIp, known: null } }, nextContext(stores));

  // When each address guesses as soon as it may, from a random minute on, and another client visits every few minutes
  const random = makeSeededRandom(11);
  const turns = Array.from({ length: attackers }, (_, index) => ({
    address: `10.0.${Math.floor(index / 250)}.${index % 250}`,
    atMs: random() * 60_000,
  }));
  let visits = 0;
  for (let minute = 0; minute * 60_000 < dayMs; minute += 1) {
    clock.advance(Math.max(0, start + minute * 60_000 - clock.now().getTime()));
    const endMs = (minute + 1) * 60_000;
    for (const turn of turns) {
      while (turn.atMs < endMs) turn.atMs += 1_000 * (await guess(turn.address));
    }
    if (minute % visitEveryMinutes !== 0) continue;
    // Then the right password opens it, from an address that was there before and from a new one
    for (const clientIp of ['192.0.2.1', `203.0.113.${visits % 250}`]) {
      await t.notThrowsAsync(() => verify(sharePassword, clientIp));
    }
    visits += 1;
  }
  t.is(visits, 1_440 / visitEveryMinutes);
  // And each address had some ten guesses, and one an hour
  t.true(guesses <= attackers * 36, `${guesses} guesses`);
  t.true(guesses >= attackers * 30, `${guesses} guesses`);
  // Then the owner received at most one notice an hour
  await background.settled();
  const events = await stores.eventStore.read(`share-${id}`, { from: 0n, limit: 500 });
  const told = events.filter(({ type }) => type === 'ShareVerificationThrottled');
  t.true(told.length >= 20 && told.length <= 24, `${told.length} times`);

  /** @returns after how many seconds the address may try again */
  async function guess(address: string): Promise<number> {
    try {
      await verify('a guess', address);
    } catch (error) {
      if (error instanceof TooManyAttempts) return error.retryAfterSeconds;
      if (error instanceof CommandRejected && error.code === 'share_password_wrong') return 1;
      throw error;
    }
    throw new Error('a guess was right');
  }
}
