import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readConfig } from '../../../src/config/config.js';
import { type RingName, ringNames } from '../../../src/keys/rings/key-file-format.js';
import {
  keySettingNames,
  loadKeys,
  makeKeyRings,
  readKeySettings,
} from '../../../src/keys/rings/key-rings.js';
import { formatRingKey } from '../../../src/keys/rings/keyring.js';
import { makeMailedCodes } from '../../../src/keys/codes/login-codes.js';
import { makeRefreshTokens } from '../../../src/keys/codes/refresh-tokens.js';
import { makeSealer } from '../../../src/keys/sealing/sealer.js';
import { makeAccessTokens } from '../../../src/security/tokens/access-tokens.js';
import { makePasswords } from '../../../src/security/passwords/passwords.js';
import { nativeScrypt } from '../../../src/security/passwords/scrypt.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';
import { givenDirectory } from '../../support/directories.js';

/*
 * The procedure for several processes (docs/keys.md#keys-and-their-rotation), with the lists in files. At each step one
 * process has read the new list. The other one has not, and it never reads by itself.
 */

const keyOf = (ring: RingName, kid: string) =>
  formatRingKey({ kid, key: Buffer.alloc(32, `${ring} ${kid}`) });

function givenFiles(t: ExecutionContext) {
  const directory = givenDirectory(t);
  const pathOf = (ring: RingName) => join(directory, ring);
  const environment = {
    INDEX_KEY: Buffer.alloc(32).toString('base64url'),
    ...Object.fromEntries(ringNames.map((ring) => [`${keySettingNames[ring]}_FILE`, pathOf(ring)])),
  };
  /** Replaces the lists of all rings, each by renaming another file over it. */
  function set(...kids: string[]): void {
    for (const ring of ringNames) {
      const text = kids.map((kid) => keyOf(ring, kid)).join(',\n');
      writeFileSync(`${pathOf(ring)}.new`, text, { mode: 0o600 });
      renameSync(`${pathOf(ring)}.new`, pathOf(ring));
    }
  }
  return { environment, set };
}

/**
 * Opens a process. `make` seals and signs values with every ring; `refused` returns the names of the values that it
 * refuses.
 */
function openProcess(environment: Record<string, string>, shared: ReturnType<typeof givenStateStore>) {
  const { clock, stateStore } = shared;
  const config = readConfig(environment);
  const rings = makeKeyRings({
    load: () => loadKeys({ settings: readKeySettings(config.secret), keyFile: null }),
    clock,
    onProblem: (problem) => {
      throw new Error(problem);
    },
  });
  const sealer = makeSealer({ stateStore, masterKeys: rings.master, clock, randomBytes });
  const refreshTokens = makeRefreshTokens(rings.refresh);
  const { loginCodes: codes } = makeMailedCodes(rings.code);
  const passwords = makePasswords({
    peppers: rings.pepper,
    pool: {
      hash: (input) => Promise.resolve(Buffer.from(nativeScrypt(input))),
      hasRoom: () => true,
      close: () => Promise.resolve(),
    },
    randomBytes,
    parameters: { N: 2, r: 1, p: 1 },
  });
  const accessTokens = makeAccessTokens({ keys: rings.jwt, issuer: 'https://a', clock, makeId: () => 'id' });

  async function make(name: string) {
    const person = { kind: 'person', userId: name } as const;
    const kid = codes.active();
    const issue = { kid, issue_id: name, email_digest: 'd' };
    const grant = { userId: name, sessionId: 's', authenticatedAt: clock.now(), methods: ['pwd'] };
    return {
      name,
      sealed: await sealer.seal(person, 'email', name),
      reply: await sealer.seal({ kind: 'reply', claim: name }, 'reply', name),
      refresh: refreshTokens.issue('019a2b3c-0000-7000-8000-000000000001').token,
      code: { issue, text: codes.codeFor(issue) },
      hash: await passwords.hash(name),
      access: (await accessTokens.sign(grant)).token,
    };
  }

  /** @returns the names of the refused values */
  async function refused(made: Awaited<ReturnType<typeof make>>): Promise<readonly string[]> {
    const { name } = made;
    const checks = {
      sealed: (await sealer.open({ kind: 'person', userId: name }, 'email', made.sealed)) === name,
      reply: (await sealer.open({ kind: 'reply', claim: name }, 'reply', made.reply)) === name,
      refresh: refreshTokens.verify(made.refresh) !== null,
      code: codes.matches(made.code.issue, made.code.text),
      password: (await passwords.verify(name, made.hash)).matches,
      access: (await accessTokens.verify(made.access)).valid,
    };
    return Object.entries(checks).flatMap(([what, accepted]) => (accepted ? [] : [what]));
  }

  return { rings, sealer, make, refused };
}

function givenStateStore() {
  const clock = makeTestClock();
  return { clock, stateStore: makeMemoryStateStore({ clock }) };
}

test("Two processes accept each other's values at each step of a rotation, though one is a step behind", async (t) => {
  // Given two processes over one state store
  const { environment, set } = givenFiles(t);
  set('k1');
  const shared = givenStateStore();
  const [first, second] = [openProcess(environment, shared), openProcess(environment, shared)];
  const made: Awaited<ReturnType<typeof first.make>>[] = [];

  async function step(name: string, ...kids: string[]): Promise<void> {
    set(...kids);
    first.rings.reload();
    for (const process of [first, second]) {
      made.push(await process.make(`${name}-${made.length}`));
    }
    for (const process of [first, second]) {
      for (const thing of made) t.deepEqual(await process.refused(thing), [], `${thing.name} at ${name}`);
    }
    second.rings.reload();
  }

  // When the list is changed step by step, then neither process refuses a value of the other
  await step('before', 'k1');
  await step('added', 'k1', 'k2');
  await step('promoted', 'k2', 'k1');
  t.true((await second.sealer.rewrap()).rewrapped > 0);
  t.deepEqual([...(await first.sealer.countByMasterKey()).keys()], ['k2']);
  // and the old key may be removed when no value needs it
  made.splice(0);
  await step('retired', 'k2');
});

test('A process that is two steps behind reads its source again for an unknown key', async (t) => {
  const { environment, set } = givenFiles(t);
  set('k1');
  const shared = givenStateStore();
  const [first, second] = [openProcess(environment, shared), openProcess(environment, shared)];
  set('k2', 'k1');
  first.rings.reload();
  t.deepEqual(await second.refused(await first.make('u1')), []);
  t.is(second.rings.jwt.active().kid, 'k2');
});
