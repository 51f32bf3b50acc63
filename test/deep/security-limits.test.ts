import { createHash, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { z } from 'zod';
import { makeKeyring } from '../../src/keys/rings/keyring.js';
import { makeRefreshTokens } from '../../src/keys/codes/refresh-tokens.js';
import { makeAccessTokens } from '../../src/security/tokens/access-tokens.js';
import { limitsFrom } from '../../src/security/rates/limits.js';
import { ipBuckets } from '../../src/security/rates/client-ip.js';
import { makeRateLimiter } from '../../src/security/rates/rate-limit.js';
import { makeSeededRandom, makeTestClock } from '../support/fakes/clock.js';
import { makeTokenMutants } from '../support/examples/token-mutants.js';

/* DEEP_SEED=<printed> replays a run. DEEP_BUDGET multiplies its length. */
const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);

test('No stretch of time passes more requests than a limit earns, in long schedules of many keys', (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  for (let round = 0; round < 20 * budget; round += 1) {
    const clock = makeTestClock();
    const limit = {
      limit: 1 + Math.floor(random() * 30),
      seconds: 1 + Math.floor(random() * 600),
      failsClosed: true,
    };
    const limiter = makeRateLimiter({ clock, limits: { x: limit }, capacity: 2 + Math.floor(random() * 40) });
    const earnMs = (limit.seconds * 1_000) / limit.limit;
    /** The independent model of each key: a leaky bucket with an exact level. */
    const levels = new Map<string, { level: number; atMs: number }>();
    for (let step = 0; step < 5_000; step += 1) {
      clock.advance(Math.floor(random() ** 4 * 3 * earnMs));
      const key = String(Math.floor(random() ** 2 * 60));
      if (!limiter.check('x', key).allowed) continue;
      const nowMs = clock.now().getTime();
      const before = levels.get(key) ?? { level: 0, atMs: nowMs };
      const level = Math.max(0, before.level - (nowMs - before.atMs) / earnMs) + 1;
      if (level > limit.limit + 1e-6) return t.fail(`DEEP_SEED=${seed}: round ${round}, step ${step}`);
      levels.set(key, { level, atMs: nowMs });
    }
  }
  t.pass();
  return undefined;
});

test('None of 100,000 mutated access tokens and half as many refresh tokens is accepted', async (t) => {
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const keys = makeKeyring([{ kid: 'k1', key: createHash('sha256').update(`${seed}`).digest() }]);
  const clock = makeTestClock();
  const access = makeAccessTokens({ keys, issuer: 'http://x', clock, makeId: () => String(random()) });
  const refresh = makeRefreshTokens(keys);
  const signFor = async (userId: string) =>
    (await access.sign({ userId, sessionId: 's', authenticatedAt: clock.now(), methods: ['pwd'] })).token;
  const [token, other] = [await signFor('u'), await signFor('someone-else')];
  const makeMutant = makeTokenMutants({
    tokens: [token, other],
    seed: keys.active().key,
    kid: 'k1',
    issuer: 'http://x',
    nowSeconds: Math.floor(clock.now().getTime() / 1_000),
    random,
  });
  const session = '018f3a6e-0000-7000-8000-000000000001';
  const successor = refresh.derive(refresh.issue(session).token).token;
  for (let index = 0; index < 50_000 * budget; index += 1) {
    const { attack, token: attacking } = makeMutant();
    if ((await access.verify(attacking)).valid) return t.fail(`DEEP_SEED=${seed}: ${attack}: ${attacking}`);
    const accessMutant = mutate(token, pick);
    if (accessMutant !== token && (await access.verify(accessMutant)).valid) return t.fail(accessMutant);
    const refreshMutant = mutate(successor, pick);
    if (refreshMutant !== successor && refresh.verify(refreshMutant) !== null) return t.fail(refreshMutant);
  }
  t.true((await access.verify(token)).valid);
  t.not(refresh.verify(successor), null);
  return undefined;
});

/** Flips, drops, doubles or swaps bytes, or exchanges, drops, decodes and changes parts. */
function mutate(token: string, pick: (below: number) => number): string {
  const at = pick(token.length);
  const parts = token.split('.');
  const part = pick(parts.length);
  const bytes = Buffer.from(parts[part] ?? '', 'base64url');
  switch (pick(7)) {
    case 0:
      return (
        token.slice(0, at) + String.fromCharCode(token.charCodeAt(at) ^ (1 << pick(7))) + token.slice(at + 1)
      );
    case 1:
      return token.slice(0, at) + token.slice(at + 1 + pick(4));
    case 2:
      return token.slice(0, at) + token.slice(at, at + 1 + pick(4)) + token.slice(at);
    case 3:
      return parts.with(part, parts[pick(parts.length)] ?? '').join('.');
    case 4:
      return parts.toSpliced(part, 1).join('.');
    case 5:
      if (bytes.length > 0) {
        const place = pick(bytes.length);
        bytes.writeUInt8(bytes.readUInt8(place) ^ (1 << pick(8)), place);
      }
      return parts.with(part, bytes.toString('base64url')).join('.');
    default:
      return parts.with(part, randomBytes(1 + pick(80)).toString('base64url')).join('.');
  }
}

test('The limiter stays small with a million distinct clients', (t) => {
  const clock = makeTestClock();
  const limiter = makeRateLimiter({ clock, limits: limitsFrom({}) });
  limiter.check('session', 'warm');
  const before = memoryMb();
  let allowed = 0;
  for (let index = 0; index < 1_000_000; index += 1) {
    // Each client has a separate network, in its longest spelling.
    const [high, low] = [(index >> 16) + 0x1000, (index & 0xffff) | 0x10000];
    const key = ipBuckets(`2001:${high.toString(16)}:${low.toString(16).slice(1)}:ffff:ffff:ffff:ffff:ffff`);
    const reservation = limiter.reserve([
      { name: 'email_code', key },
      { name: 'email_code_day', key },
    ]);
    if (reservation.allowed) {
      allowed += 1;
      reservation.settle(() => true);
    }
    limiter.check('session', `session ${index}`);
  }
  const grown = memoryMb() - before;
  t.log(`${grown.toFixed(1)} MB, ${allowed} clients were let in`);
  t.true(grown < 64);
  t.false(limiter.check('login', 'new').allowed, 'the limiter is still in use here, so it was measured');
});

// Node has the collector only if it starts with this flag, but a new context of a running process has it afterwards.
setFlagsFromString('--expose-gc');
const collectGarbage = z
  .custom<() => void>((value) => typeof value === 'function')
  .parse(runInNewContext('gc'));

function memoryMb(): number {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return (heapUsed + external + arrayBuffers) / 1e6;
}
