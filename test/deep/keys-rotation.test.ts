import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { openServices, type Services } from '../../src/composition/services.js';
import { readConfig } from '../../src/config/config.js';
import type { Sealed } from '../../src/event-sourcing/ports/domain-event.js';
import { KeyDestroyed } from '../../src/keys/sealing/errors.js';
import { type RingName, ringNames } from '../../src/keys/rings/key-file-format.js';
import { readKeyFile } from '../../src/keys/rings/key-file.js';
import { loadKeys } from '../../src/keys/rings/key-rings.js';
import { makeMailedCodes } from '../../src/keys/codes/login-codes.js';
import { makeRefreshTokens } from '../../src/keys/codes/refresh-tokens.js';
import { erased, makeSealer, type Sealer } from '../../src/keys/sealing/sealer.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { givenDirectory } from '../support/servers/service-process.js';
import { settableClock } from '../support/fakes/settable-clock.js';

/*
 * Rotates every ring many times in one process that seals and opens meanwhile. DEEP_SEED=<printed> repeats the choices;
 * DEEP_BUDGET multiplies the number of secrets.
 */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
const secretsAtFirst = Math.ceil(10_000 * budget);
/** Some secrets are sealed during the rotations. */
const personsMax = Math.ceil(secretsAtFirst * 1.2);
const rotations = 20;
const workers = 16;
/**
 * The number of actions of all workers during a rotation. Counting them makes the test independent of the speed of disk
 * and processor.
 */
const actsPerRotation = Math.max(2_000, Math.ceil(12_000 * budget));
const [minuteMs, dayMs] = [60_000, 86_400_000];

interface Secret {
  readonly userId: string;
  readonly text: string;
  readonly sealed: Sealed;
}

/** Checks a code or token that was made with a key of another ring. */
type Check = () => boolean;

test(`${rotations} rotations of every ring over ${secretsAtFirst} secrets under load lose no secret`, async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  // Given a process with many secrets
  const directory = givenDirectory(t);
  const clock = settableClock();
  const config = readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent' });
  const services = await openServices(config, { clock });
  t.teardown(() => services.close());
  const random = makeSeededRandom(seed);
  const secrets: Secret[] = [];
  const checks: Check[] = [];
  /** The users whose key is being destroyed, and those whose key is destroyed. */
  const destroyed = new Set<string>();
  const gone = new Set<string>();
  let stopped = false;
  let actsLeft = 0;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let n = worker; n < secretsAtFirst; n += workers) await seal(`u${n}`);
    }),
  );

  // When every ring is rotated while the process seals, opens and destroys
  const load = Promise.all(Array.from({ length: workers }, actUntilStopped));
  const seen = { opened: 0, rewrapped: 0 };
  try {
    for (let rotation = 0; rotation < rotations; rotation += 1) seen.rewrapped += await rotateAll();
  } finally {
    stopped = true;
    await load;
  }

  // Then a new process opens every secret with the last master key alone
  const keyFile = join(directory, 'keys.json');
  const keys = loadKeys({ settings: {}, keyFile });
  t.is(keys.master.all().length, 1);
  t.deepEqual([...(await services.sealer.countByMasterKey()).keys()], [keys.master.active().kid]);
  const { stateStore } = services.stores;
  const fresh = makeSealer({ stateStore, masterKeys: keys.master, clock, randomBytes });
  for (const secret of secrets) await check(fresh, secret);
  t.true(checks.every((stillGood) => stillGood()));
  t.deepEqual(
    ringNames.map((ring) => readKeyFile(keyFile)?.rings[ring].length),
    ringNames.map((ring) => (ring === 'master' ? 1 : rotations + 1)),
  );
  t.log({ ...seen, secrets: secrets.length, checks: checks.length, destroyed: destroyed.size });
  t.true(seen.opened > 1_000 && destroyed.size > 0 && seen.rewrapped > rotations * secretsAtFirst * 0.5);

  async function seal(userId: string): Promise<void> {
    const text = `${userId}/${random()}`;
    try {
      secrets.push({
        userId,
        text,
        sealed: await services.sealer.seal({ kind: 'person', userId }, 'email', text),
      });
    } catch (error) {
      if (!(error instanceof KeyDestroyed && destroyed.has(userId))) throw error;
    }
  }

  async function check(sealer: Sealer, { userId, text, sealed }: Secret): Promise<void> {
    const wasGone = gone.has(userId);
    const opened = await sealer.open({ kind: 'person', userId }, 'email', sealed);
    if (opened === erased) t.true(destroyed.has(userId), 'an erased secret belongs to a destroyed key');
    else if (opened !== text || wasGone)
      t.fail(`a secret of ${userId} opens after its key was destroyed, or as another value`);
  }

  async function actUntilStopped(): Promise<void> {
    const refreshTokens = makeRefreshTokens(services.keyRings.refresh);
    const { loginCodes: codes } = makeMailedCodes(services.keyRings.code);
    while (!stopped) {
      if (actsLeft === 0) {
        await delay(2);
        continue;
      }
      actsLeft -= 1;
      const kind = random();
      const secret = secrets[Math.floor(random() * secrets.length)];
      if (secret === undefined) throw new Error('there are no secrets');
      if (kind < 0.7) {
        await check(services.sealer, secret);
        seen.opened += 1;
      } else if (kind < 0.95) {
        await seal(`u${Math.floor(random() * personsMax)}`);
      } else if (kind < 0.97) {
        const { token } = refreshTokens.issue('019a2b3c-0000-7000-8000-000000000001');
        checks.push(() => refreshTokens.verify(token) !== null);
      } else if (kind < 0.998) {
        const issue = { kid: codes.active(), issue_id: String(random()), email_digest: 'd' };
        const code = codes.codeFor(issue);
        checks.push(() => codes.matches(issue, code));
      } else {
        destroyed.add(secret.userId);
        await services.sealer.destroy({ kind: 'person', userId: secret.userId });
        gone.add(secret.userId);
      }
      // An open from the cache is synchronous, so the wait lets other work run.
      await new Promise(setImmediate);
    }
  }

  async function rotateAll(): Promise<number> {
    const { keyRotation, keyRings } = services;
    actsLeft = actsPerRotation;
    const old = keyRings.master.active().kid;
    for (const ring of ringNames) keyRotation.add(ring);
    clock.advance(minuteMs);
    for (const ring of ringNames) keyRotation.promote(ring, null, { now: false });
    const rewrapped = await rewrapAll(services);
    clock.advance(dayMs + minuteMs);
    await retire(t, services, 'master', old);
    while (actsLeft > 0) await delay(2);
    return rewrapped;
  }
});

/** Rewraps until no data key is wrapped with the old key. */
async function rewrapAll({ sealer, keyRings }: Services): Promise<number> {
  let rewrapped = 0;
  do {
    rewrapped += (await sealer.rewrap()).rewrapped;
  } while ([...(await sealer.countByMasterKey()).keys()].some((kid) => kid !== keyRings.master.active().kid));
  return rewrapped;
}

async function retire(t: ExecutionContext, services: Services, ring: RingName, kid: string): Promise<void> {
  t.true((await services.keyRotation.retire(ring, kid, { force: false })).changed);
}
