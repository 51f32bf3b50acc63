import test, { type ExecutionContext } from 'ava';
import { makeBackground } from '../../../../src/kit/background.js';
import { TooManyAttempts } from '../../../../src/areas/shared/rejections.js';
import { makeShareCommands } from '../../../../src/areas/shares/commands/index.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../../src/kit/overloaded.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeShareSessions } from '../../../../src/keys/codes/share-sessions.js';
import { nativeScrypt, type ScryptInput } from '../../../../src/security/passwords/scrypt.js';
import { makeSharePasswords } from '../../../../src/security/passwords/share-passwords.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenAsset, givenShare, nextContext, sharePassword } from '../../../support/given/given-share.js';
import { givenStores } from '../../../support/given/given-stores.js';
import { simulateGuessing } from '../../../support/simulation/simulate-guessing.js';

/** Places in the pool: two threads, and a queue of 128. */
const placesMax = 130;

/** Given a share, and a pool of hashes that the test can block. */
async function given({ background }: { readonly background?: ReturnType<typeof makeBackground> } = {}) {
  const stores = await givenStores();
  const commands = givenCommands(stores);
  const service = { ...stores, commands };
  const { id, token } = await givenShare(service, await givenAsset(service));
  const pool = { heldUp: false, taken: 0 };
  const hash = async (input: ScryptInput): Promise<Buffer> => {
    if (pool.taken === placesMax) throw new Overloaded('full');
    if (pool.heldUp) {
      pool.taken += 1;
      return new Promise<Buffer>(() => undefined);
    }
    return Promise.resolve(Buffer.from(nativeScrypt(input)));
  };
  const { verifyShare } = makeShareCommands({
    ...stores,
    ...{ ...commands, background: background ?? commands.background, onFailure: () => undefined },
    sharePasswords: makeSharePasswords({
      pool: { hash, hasRoom: () => true, close: () => Promise.resolve() },
      peppers: makeKeyring([{ kid: 'p1', key: Buffer.alloc(32, 'p1') }]),
      randomBytes: (size) => Buffer.alloc(size, 4),
      parameters: { N: 2, r: 1, p: 1 },
    }),
    shareSessions: makeShareSessions(makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 5) }])),
  });
  const verify = (tried: string, password: string, clientIp: string) =>
    verifyShare({ token: tried, password, clientIp }, nextContext(stores));
  return { stores, id, token, pool, verify };
}

const addressOf = (index: number): string => `10.0.${Math.floor(index / 250)}.${index % 250}`;

/** Starts all attempts and waits until each has a place or is refused. @returns the number of refused attempts */
async function flood(
  t: ExecutionContext,
  tries: readonly (() => Promise<unknown>)[],
  taken: () => number,
): Promise<number> {
  let refused = 0;
  for (const attempt of tries) {
    attempt().catch((error: unknown) => {
      t.true(error instanceof TooManyAttempts, String(error));
      refused += 1;
    });
  }
  for (let turns = 0; taken() + refused < tries.length && turns < 1_000; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return refused;
}

test('A thousand addresses that invent tokens take half of the places, and the right password is still checked', async (t) => {
  const { token, pool, verify } = await given();
  // When no hash finishes
  pool.heldUp = true;
  const guesses = Array.from({ length: 1_000 }, (_, index) => () => {
    return verify(`${index}`.padStart(22, 'x'), 'a guess', addressOf(index));
  });
  const refused = await flood(t, guesses, () => pool.taken);
  // Then the guesses have half of the places
  t.is(pool.taken, 64);
  t.is(refused, 936);
  // and other clients get the rest
  pool.heldUp = false;
  await t.notThrowsAsync(() => verify(token, sharePassword, '192.0.2.1'));
});

test('Clients that failed at a share before take half of the places, and other clients get the rest', async (t) => {
  const { token, pool, verify } = await given();
  const guessers = Array.from({ length: 100 }, (_, index) => addressOf(index));
  for (const clientIp of guessers) {
    await t.throwsAsync(() => verify(token, 'a guess', clientIp), { instanceOf: CommandRejected });
  }
  pool.heldUp = true;
  const again = guessers.map((clientIp) => () => verify(token, 'another guess', clientIp));
  t.is(await flood(t, again, () => pool.taken), 36);
  t.is(pool.taken, 64);
  pool.heldUp = false;
  await t.notThrowsAsync(() => verify(token, sharePassword, '192.0.2.1'));
});

test('A throttled share is recorded later when the record could not be made at first', async (t) => {
  // Given a background that is full at first and has room later
  const room = makeBackground({ onFailure: (_, error) => t.fail(String(error)) });
  let isFull = true;
  const background: ReturnType<typeof makeBackground> = {
    ...room,
    start: (what, work) => {
      if (isFull) throw new Overloaded('too much is under way in the background');
      room.start(what, work);
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

test('Ten addresses that guess for a day never stop the right password from another address', async (t) => {
  // `test/deep` runs a thousand addresses.
  await simulateGuessing(t, 10);
  t.pass();
});
