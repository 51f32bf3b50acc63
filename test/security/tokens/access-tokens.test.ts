import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import test from 'ava';
import {
  SignJWT,
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  jwtVerify,
  type JWTHeaderParameters,
  type JWTPayload,
} from 'jose';
import { makeKeyring, type Keyring } from '../../../src/keys/rings/keyring.js';
import { ed25519KeyPair, makeAccessTokens } from '../../../src/security/tokens/access-tokens.js';
import { makeSeededRandom, makeTestClock } from '../../support/fakes/clock.js';
import { makeTokenMutants } from '../../support/examples/token-mutants.js';

const key1 = { kid: 'j1', key: Buffer.alloc(32, 1) };
const key2 = { kid: 'j2', key: Buffer.alloc(32, 2) };
const issuer = 'http://127.0.0.1:8080';
const grant = {
  userId: '018f3a6e-0000-7000-8000-0000000000aa',
  sessionId: '018f3a6e-0000-7000-8000-0000000000bb',
  authenticatedAt: new Date('2026-01-02T03:00:00.000Z'),
  methods: ['pwd'],
};
const invalid = { valid: false, code: 'invalid_token' } as const;
const expired = { valid: false, code: 'token_expired' } as const;

function given(keys: Keyring = makeKeyring([key1])) {
  const clock = makeTestClock('2026-01-02T03:04:05.600Z');
  let ids = 0;
  const makeId = () => {
    ids += 1;
    return `jti-${ids}`;
  };
  return { clock, tokens: makeAccessTokens({ keys, issuer, clock, makeId }) };
}

/** The payload and the header of our tokens. The tests change them one by one. */
const nowSeconds = Date.parse('2026-01-02T03:04:05.000Z') / 1_000;
const payload = {
  iss: issuer,
  aud: 'stowage',
  sub: grant.userId,
  sid: grant.sessionId,
  jti: 'jti-1',
  iat: nowSeconds,
  exp: nowSeconds + 600,
  amr: ['pwd'],
  auth_time: nowSeconds - 245,
};
const header = { alg: 'EdDSA', kid: 'j1', typ: 'at+jwt' };

function signed(claims: JWTPayload, headers: JWTHeaderParameters = header, seed = key1.key): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(headers).sign(ed25519KeyPair(seed).privateKey);
}

test('The key pair of a seed, its public JWK and a signature match RFC 8037, appendix A', async (t) => {
  const seed = Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url');
  const pair = ed25519KeyPair(seed);
  const jwk = await exportJWK(pair.publicKey);
  t.deepEqual(jwk, { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' });
  t.is(await calculateJwkThumbprint(jwk), 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  const input = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc';
  t.is(
    sign(null, Buffer.from(input), pair.privateKey).toString('base64url'),
    'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  );
});

test('A token names user, session, expiry and methods of the sign-in', async (t) => {
  const { tokens } = given();
  const { token, expiresInSeconds } = await tokens.sign(grant);
  t.is(expiresInSeconds, 600);
  const { sid, amr, auth_time, iss, aud, sub, ...rest } = payload;
  t.is(token, await signed({ sid, amr, auth_time, iss, aud, sub, ...rest }), 'EdDSA is deterministic');
  for (const time of ['first', 'remembered']) {
    const expected = {
      valid: true,
      claims: {
        userId: grant.userId,
        sessionId: grant.sessionId,
        issuedAt: new Date('2026-01-02T03:04:05.000Z'),
        expiresAt: new Date('2026-01-02T03:14:05.000Z'),
      },
    };
    t.deepEqual(await tokens.verify(token), expected, time);
  }
});

for (const [what, validMs, furtherMs, verdict] of [
  ['A token expires after 10 min and 5 s of tolerance', 604_399, 1, expired],
  ['A token from the future is invalid', -5_000, -1_000, invalid],
] as const)
  test(`${what}, cached or not`, async (t) => {
    for (const remember of [true, false]) {
      const { tokens, clock } = given();
      const { token } = await tokens.sign(grant);
      if (remember) await tokens.verify(token);
      clock.advance(validMs);
      t.true((await tokens.verify(token)).valid);
      clock.advance(furtherMs);
      t.deepEqual(await tokens.verify(token), verdict);
    }
  });

test('Only a token that is valid except for its time is expired', async (t) => {
  const { tokens } = given();
  const past = { ...payload, iat: nowSeconds - 700, exp: nowSeconds - 100 };
  t.deepEqual(await tokens.verify(await signed(past)), expired);
  t.deepEqual(
    await tokens.verify(await signed({ ...past, exp: nowSeconds + 9_000, iat: nowSeconds - 906 })),
    expired,
  );
  t.deepEqual(await tokens.verify(await signed({ ...past, aud: 'other' })), invalid);
  t.deepEqual(await tokens.verify(await signed({ ...past, iss: 'http://other' })), invalid);
  t.deepEqual(await tokens.verify(await signed(past, { ...header, typ: 'JWT' })), invalid);
  t.deepEqual(await tokens.verify(await signed(past, header, key2.key)), invalid);
});

test('Every claim is required and has its type', async (t) => {
  const { tokens } = given();
  t.true((await tokens.verify(await signed(payload))).valid);
  const wrong: Record<string, unknown> = {
    iss: 'x',
    aud: 'x',
    sub: 7,
    sid: '',
    jti: null,
    iat: 'x',
    exp: 'x',
    amr: 'pwd',
    auth_time: 1.5,
  };
  for (const [name, value] of Object.entries(wrong)) {
    const rest = Object.fromEntries(Object.entries(payload).filter(([other]) => other !== name));
    t.deepEqual(await tokens.verify(forge(JSON.stringify(rest))), invalid, `without ${name}`);
    t.deepEqual(
      await tokens.verify(forge(JSON.stringify({ ...rest, [name]: value }))),
      invalid,
      `wrong ${name}`,
    );
  }
  t.deepEqual(await tokens.verify(await signed({ ...payload, nbf: nowSeconds + 60 })), invalid, 'not yet');
});

/** Signs any text with our key, as a careless issuer could. The library jose refuses to sign it. */
function forge(claims: string, headers: object = header): string {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const input = `${encode(JSON.stringify(headers))}.${encode(claims)}`;
  return `${input}.${sign(null, Buffer.from(input), ed25519KeyPair(key1.key).privateKey).toString('base64url')}`;
}

test('Algorithm, type and key are pinned, and a key inside a token is ignored', async (t) => {
  const { tokens } = given();
  const claims = JSON.stringify(payload);
  t.true((await tokens.verify(forge(claims))).valid);
  const stranger = generateKeyPairSync('ed25519');
  const jwk = await exportJWK(stranger.publicKey);
  const headers: Record<string, object> = {
    'alg none': { ...header, alg: 'none' },
    'alg HS256': { ...header, alg: 'HS256' },
    'alg Ed25519': { ...header, alg: 'Ed25519' },
    'no kid': { alg: 'EdDSA', typ: 'at+jwt' },
    'unknown kid': { ...header, kid: 'j9' },
    'kid of a prototype': { ...header, kid: '__proto__' },
    'kid is no text': { ...header, kid: 1 },
    'typ JWT': { ...header, typ: 'JWT' },
    'no typ': { alg: 'EdDSA', kid: 'j1' },
    jwk: { ...header, jwk },
    jku: { ...header, jku: 'https://example.com/jwks' },
    x5u: { ...header, x5u: 'https://example.com/cert' },
    crit: { ...header, crit: ['exp'] },
    'unencoded payload': { ...header, b64: false, crit: ['b64'] },
  };
  for (const [name, each] of Object.entries(headers))
    t.deepEqual(await tokens.verify(forge(claims, each)), invalid, name);
  const ownKey = await new SignJWT(payload).setProtectedHeader({ ...header, jwk }).sign(stranger.privateKey);
  t.deepEqual(await tokens.verify(ownKey), invalid);
  const publicKey = Buffer.from((await exportJWK(ed25519KeyPair(key1.key).publicKey)).x ?? '', 'base64url');
  const confused = await signed(payload, header);
  const [, body = ''] = confused.split('.');
  const head = Buffer.from(JSON.stringify({ ...header, alg: 'HS256' })).toString('base64url');
  const mac = createHmac('sha256', publicKey).update(`${head}.${body}`).digest('base64url');
  t.deepEqual(await tokens.verify(`${head}.${body}.${mac}`), invalid);
  t.deepEqual(await tokens.verify(`${head}.${body}.`), invalid);
});

test('Several keys verify and one signs, and a removed key ends its tokens at once', async (t) => {
  let ring = makeKeyring([key1]);
  const live: Keyring = { active: () => ring.active(), all: () => ring.all(), find: (kid) => ring.find(kid) };
  const { tokens } = given(live);
  const { token: old } = await tokens.sign(grant);
  ring = makeKeyring([key2, key1]);
  const { token: young } = await tokens.sign(grant);
  t.is(
    Buffer.from(young.split('.')[0] ?? '', 'base64url').toString(),
    '{"alg":"EdDSA","kid":"j2","typ":"at+jwt"}',
  );
  t.true((await tokens.verify(old)).valid);
  t.true((await tokens.verify(young)).valid);
  ring = makeKeyring([key2]);
  t.deepEqual(await tokens.verify(old), invalid);
  t.true((await tokens.verify(young)).valid);
});

test('The key set contains only the public keys and verifies our tokens elsewhere', async (t) => {
  const { tokens, clock } = given(makeKeyring([key2, key1]));
  const jwks = await tokens.jwks();
  t.deepEqual(
    jwks.keys.map((jwk) => Object.keys(jwk).sort().join()),
    ['alg,crv,kid,kty,use,x', 'alg,crv,kid,kty,use,x'],
  );
  const { token } = await tokens.sign(grant);
  const { payload: claims } = await jwtVerify(token, createLocalJWKSet({ keys: [...jwks.keys] }), {
    issuer,
    audience: 'stowage',
    typ: 'at+jwt',
    currentDate: clock.now(),
  });
  t.is(claims.sub, grant.userId);
});

// test/deep/security-limits.test.ts tries more of both kinds.
test('None of 600 mutated tokens is accepted, and no verdict is an exception', async (t) => {
  const { tokens } = given();
  const random = makeSeededRandom(11);
  const pick = (below: number) => Math.floor(random() * below);
  const { token } = await tokens.sign(grant);
  const { token: other } = await tokens.sign({ ...grant, userId: 'someone-else' });
  t.true((await tokens.verify(token)).valid);
  const alphabet = 'ABCXYZabcxyz0189-_.=+ /é\0';
  for (let index = 0; index < 600; index += 1) {
    const at = pick(token.length);
    const parts = token.split('.');
    const mutants = [
      token.slice(0, at) + alphabet.charAt(pick(alphabet.length)) + token.slice(at + 1),
      token.slice(0, at) + token.slice(at + 1 + pick(3)),
      token + alphabet.charAt(pick(alphabet.length)),
      parts.with(pick(3), other.split('.')[pick(3)] ?? '').join('.'),
    ];
    const mutant = mutants[index % mutants.length] ?? '';
    if (mutant === token || mutant === other) continue;
    const verdict = await tokens.verify(mutant);
    if (verdict.valid) t.fail(mutant);
  }
  // Decoders ignore some bits of the last character.
  for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
    const mutant = token.slice(0, -1) + last;
    if (mutant !== token) t.false((await tokens.verify(mutant)).valid, `last character ${last}`);
  }
  for (const text of ['', '.', '..', '...', 'x'.repeat(10_000), `${token}.${token}`]) {
    t.deepEqual(await tokens.verify(text), invalid);
  }
});

test('None of 600 tokens made for an attack is accepted', async (t) => {
  const { tokens } = given(makeKeyring([key1, key2]));
  const good = [
    (await tokens.sign(grant)).token,
    (await tokens.sign({ ...grant, userId: 'someone-else' })).token,
  ] as const;
  for (const token of good) t.true((await tokens.verify(token)).valid);
  const mutant = makeTokenMutants({
    tokens: good,
    seed: key1.key,
    kid: 'j1',
    issuer,
    nowSeconds,
    random: makeSeededRandom(12),
  });
  const attacks = new Set<string>();
  for (let index = 0; index < 600; index += 1) {
    const { attack, token } = mutant();
    attacks.add(attack);
    if ((await tokens.verify(token)).valid) t.fail(`${attack}: ${token}`);
  }
  t.is(attacks.size, 12);
  for (const token of good) t.true((await tokens.verify(token)).valid);
});
