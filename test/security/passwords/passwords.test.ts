import { createHmac, randomBytes } from 'node:crypto';
import { open, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { ExecutionContext } from 'ava';
import { Overloaded } from '../../../src/kit/semaphore.js';
import { KeyMissing } from '../../../src/keys/sealing/errors.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeHashPool, type HashPool } from '../../../src/security/passwords/hash-pool.js';
import {
  type Scrypt,
  chooseScrypt,
  nativeScrypt,
  parsePasswordHash,
  portableScrypt,
} from '../../../src/security/passwords/scrypt.js';
import { makePasswords, passwordScrypt } from '../../../src/security/passwords/passwords.js';

const cheap = { N: 16, r: 1, p: 1 };
const old = { kid: 'p1', key: Buffer.alloc(32, 1) };
const young = { kid: 'p2', key: Buffer.alloc(32, 2) };
/** Test machines are busy, so tests that do not measure time get plenty of it. */
const timeLimitMs = 50_000;
const shared: HashPool = makeHashPool({ threads: 2, timeLimitMs });
test.after.always(() => shared.close());

function given({ peppers = [old], parameters = cheap, pool = shared } = {}) {
  return makePasswords({ peppers: makeKeyring(peppers), pool, randomBytes, parameters });
}

test('Both implementations match the published results of RFC 7914, section 12', (t) => {
  const text = (value: string) => Buffer.from(value);
  const vectors = [
    {
      input: { password: text(''), salt: text(''), N: 16, r: 1, p: 1, length: 64 },
      output:
        '77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906',
    },
    {
      input: { password: text('password'), salt: text('NaCl'), N: 1024, r: 8, p: 16, length: 64 },
      output:
        'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
    },
    {
      input: {
        password: text('pleaseletmein'),
        salt: text('SodiumChloride'),
        N: 16384,
        r: 8,
        p: 1,
        length: 64,
      },
      output:
        '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
    },
  ];
  for (const { input, output } of vectors) {
    t.is(Buffer.from(nativeScrypt(input)).toString('hex'), output);
    // The last vector costs the portable implementation as much as the others together and shows nothing more.
    if (input.N < 16_384) t.is(Buffer.from(portableScrypt(input)).toString('hex'), output);
  }
});

test('The portable scrypt replaces a missing one, and a wrong one stops the start', (t) => {
  const refuses: Scrypt = () => {
    throw new Error('scrypt is not allowed in this FIPS build');
  };
  const wrong: Scrypt = () => Buffer.alloc(64);
  t.is(chooseScrypt(), nativeScrypt);
  t.is(chooseScrypt(refuses), portableScrypt);
  t.throws(() => chooseScrypt(wrong), { message: /computes a wrong result/ });
  t.throws(() => chooseScrypt(refuses, wrong), { message: /computes a wrong result/ });
});

test('A stored hash is scrypt of the peppered password with N=2^15 r=8 p=3', async (t) => {
  const passwords = given({ parameters: passwordScrypt });
  const stored = await passwords.hash('Correct-Horse-9');
  t.regex(stored, /^\$scrypt\$ln=15,r=8,p=3,keyid=p1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  const parsed = parsePasswordHash(stored);
  const password = createHmac('sha256', old.key).update('Correct-Horse-9').digest();
  const salt = parsed?.salt ?? Buffer.alloc(0);
  t.deepEqual(parsed?.hash, Buffer.from(nativeScrypt({ password, salt, ...passwordScrypt, length: 32 })));
  t.deepEqual(await passwords.verify('Correct-Horse-9', stored), { matches: true, needsRehash: false });
});

test('Only the password itself matches, in every Unicode form of it', async (t) => {
  const passwords = given();
  const stored = await passwords.hash('Pässwörter-1');
  t.true((await passwords.verify('Pässwörter-1'.normalize('NFD'), stored)).matches);
  for (const wrong of ['', 'pässwörter-1', 'Pässwörter-1 ', 'Passworter-1', 'Pässwörter-1\0']) {
    t.deepEqual(await passwords.verify(wrong, stored), { matches: false, needsRehash: false });
  }
  t.not(await passwords.hash('Pässwörter-1'), stored, 'the salt is new');
});

test('A hash with other parameters or an older pepper matches and needs a rehash', async (t) => {
  const stored = await given().hash('secret');
  const cases = [
    { passwords: given({ parameters: { N: 32, r: 1, p: 1 } }), needsRehash: true },
    { passwords: given({ peppers: [young, old] }), needsRehash: true },
    { passwords: given({ peppers: [old, young] }), needsRehash: false },
  ];
  for (const { passwords, needsRehash } of cases) {
    t.deepEqual(await passwords.verify('secret', stored), { matches: true, needsRehash });
    t.deepEqual(await passwords.verify('other', stored), { matches: false, needsRehash: false });
  }
});

test('A missing pepper and an unreadable hash are errors and not wrong passwords', async (t) => {
  const stored = await given().hash('secret');
  await t.throwsAsync(given({ peppers: [young] }).verify('secret', stored), { instanceOf: KeyMissing });
  const strange = ['', 'x', stored.replace('ln=4', 'ln=40'), stored.replace('p=1', 'p=99'), `${stored}A`];
  for (const text of strange) {
    const { message } = await t.throwsAsync(given().verify('secret', text), { instanceOf: TypeError });
    t.is(message, 'a stored password hash is not readable');
  }
});

test('An unknown account costs the same hash and never matches', async (t) => {
  const inputs: unknown[] = [];
  const pool: HashPool = {
    hash: ({ N, r, p, length, password, salt }) => {
      inputs.push({ N, r, p, length, password: password.length, salt: salt.length });
      return Promise.resolve(Buffer.alloc(32));
    },
    hasRoom: () => true,
    close: () => Promise.resolve(),
  };
  const passwords = given({ pool });
  t.deepEqual(await passwords.verifyNone('secret'), { matches: false, needsRehash: false });
  await passwords.verify('secret', await given().hash('secret'));
  t.deepEqual(inputs[0], inputs[1]);
});

const quick = { password: Buffer.alloc(32), salt: Buffer.alloc(16), ...cheap, length: 32 };
const slow = { ...quick, N: 2 ** 13, r: 8, p: 1 };

/* The tests that fill the pool run one after the other. */

test.serial(
  'Of 200 concurrent sign-ins 34 are served, the others are refused at once, and the event loop continues',
  async (t) => {
    const passwords = given({ parameters: { N: 2 ** 12, r: 8, p: 1 } });
    const stored = await passwords.hash('Correct-Horse-7');
    const order: string[] = [];
    const signIn = async (index: number): Promise<void> => {
      try {
        // Half of them know an account and half do not. Both count.
        const { matches } = await (index % 2 === 0
          ? passwords.verify('Correct-Horse-7', stored)
          : passwords.verifyNone('Correct-Horse-7'));
        order.push(matches ? 'matched' : 'no account');
      } catch (error) {
        order.push(error instanceof Overloaded ? 'refused' : String(error));
      }
    };
    const signIns = Promise.all(Array.from({ length: 200 }, (_, index) => signIn(index)));
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 1);
    await signIns;
    clearInterval(turning);
    t.deepEqual(order.slice(0, 166), Array<string>(166).fill('refused'));
    t.deepEqual(order.slice(166).sort(), [
      ...Array<string>(17).fill('matched'),
      ...Array<string>(17).fill('no account'),
    ]);
    t.true(turns >= 17, `${turns} turns of the event loop in the time of 17 hashes, one after the other`);
    t.true((await passwords.verify('Correct-Horse-7', stored)).matches, 'later sign-ins are served again');
  },
);

test.serial('At most two hashes run at once', async (t) => {
  const pool = shared;
  // These start both threads.
  await Promise.all([pool.hash(quick), pool.hash(quick)]);
  const long = { ...slow, p: 8 };
  let done = 0;
  const two = [pool.hash(long), pool.hash(long)].map((hash) => hash.then(() => (done += 1)));
  await pool.hash(quick);
  t.true(done >= 1, 'a third hash, however short, waits for one of the two');
  await Promise.all(two);
});

test.serial('A full queue of hashes does not delay the disk', async (t) => {
  const pool = shared;
  const file = await givenFile(t);
  await pool.hash({ ...slow, N: 16 });
  // Given 34 hashes at all times
  let [hashed, isWritten] = [0, false];
  const hashes = Array.from({ length: 34 }, async () => {
    while (!isWritten) {
      await pool.hash(slow);
      hashed += 1;
    }
  });
  // When a file is written
  for (let index = 0; index < 3; index += 1) {
    await file.write('x');
    await file.sync();
  }
  isWritten = true;
  // Then it waits for few of them. In libuv's pool each of the six operations would wait for all 34.
  t.true(hashed < 34 * 3, `${hashed} hashes were done first`);
  await Promise.all(hashes);
});

async function givenFile(t: ExecutionContext) {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-hash-'));
  const file = await open(join(directory, 'file'), 'w');
  t.teardown(async () => {
    await file.close();
    await rm(directory, { recursive: true });
  });
  return file;
}

test('A closed pool refuses work, and waiting work ends', async (t) => {
  const pool = makeHashPool({ threads: 1, timeLimitMs });
  const waiting = Promise.allSettled([pool.hash(slow), pool.hash(slow)]);
  await pool.close();
  for (const { status } of await waiting) t.true(['fulfilled', 'rejected'].includes(status));
  await t.throwsAsync(pool.hash(slow), { instanceOf: Overloaded });
});

test('A pool reports whether it takes another hash', async (t) => {
  const pool = makeHashPool({ threads: 1, queue: 1, timeLimitMs });
  const { hash, requireRoom } = given({ pool });
  t.notThrows(requireRoom);
  const both = [hash('one'), hash('two')];
  t.throws(requireRoom, { instanceOf: Overloaded });
  await Promise.all(both);
  t.notThrows(requireRoom);
  await pool.close();
  t.throws(requireRoom, { instanceOf: Overloaded });
});
