import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import type { Random } from '../../../src/kit/time/clock.js';
import { ed25519KeyPair } from '../../../src/security/tokens/access-tokens.js';

/** A token that the service must refuse, and its defect. */
interface TokenMutant {
  readonly attack: string;
  readonly token: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The order of the group of Ed25519 (RFC 8032, section 5.1). */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/**
 * Makes wrong access tokens. An attacker with good tokens and the public key could make most of them. Some are signed
 * with the service's own key, as a careless issuer could.
 * @param options.tokens good tokens of different users, signed by `seed` under `kid`
 */
export function makeTokenMutants({
  tokens,
  seed,
  kid,
  issuer,
  nowSeconds,
  random,
}: {
  readonly tokens: readonly [string, string];
  readonly seed: Buffer;
  readonly kid: string;
  readonly issuer: string;
  readonly nowSeconds: number;
  readonly random: Random;
}): () => TokenMutant {
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(choices: readonly [T, ...T[]]): T => choices[below(choices.length)] ?? choices[0];
  const { privateKey, publicKey } = ed25519KeyPair(seed);
  const stranger = generateKeyPairSync('ed25519');
  const strangerJwk = stranger.publicKey.export({ format: 'jwk' });

  const good = { alg: 'EdDSA', kid, typ: 'at+jwt' };
  const [first, second] = tokens;
  const [head = '', body = '', signature = ''] = first.split('.');
  const [otherHead = '', otherBody = '', otherSignature = ''] = second.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Fields;

  const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
  const inputOf = (header: Fields, payload: Fields | string): string =>
    `${encode(JSON.stringify(header))}.${typeof payload === 'string' ? payload : encode(JSON.stringify(payload))}`;
  const signedBy = (key: KeyObject, input: string): string =>
    `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
  const ours = (header: Fields, payload: Fields | string): string =>
    signedBy(privateKey, inputOf(header, payload));
  const theirs = (header: Fields, payload: Fields | string): string =>
    signedBy(stranger.privateKey, inputOf(header, payload));

  const without = (fields: Fields, name: string): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name));
  const junk = (): unknown =>
    pick<unknown>([null, true, 0, -1, 1e300, '', ' ', [], {}, [[]], { toString: 1 }, '__proto__', '\u0000']);
  const seconds = (): number => below(1_000_000) + 60;

  /** Makes claims that are wrong under any signature. */
  function wrongClaims(): Fields {
    return pick<() => Fields>([
      () => ({
        ...claims,
        aud: pick<unknown>(['other', 'stowage ', 'Stowage', 'stow', ['a', 'b'], [], junk()]),
      }),
      () => ({
        ...claims,
        iss: pick<unknown>([`${issuer}/`, issuer.toUpperCase(), 'http://x', [issuer], junk()]),
      }),
      () => ({ ...claims, iat: nowSeconds + 5 + seconds() }),
      () => ({ ...claims, iat: nowSeconds - 905 - seconds(), exp: nowSeconds + seconds() }),
      () => ({ ...claims, exp: nowSeconds - seconds() }),
      () => ({ ...claims, nbf: nowSeconds + seconds() }),
      () => ({ ...claims, exp: pick<unknown>(['9999999999', nowSeconds + 0.5, [nowSeconds + 9], null, {}]) }),
      () => ({ ...claims, iat: pick<unknown>([String(nowSeconds), nowSeconds - 0.5, null, true, []]) }),
      () => ({ ...claims, [pick(['sub', 'sid', 'jti'])]: pick<unknown>(['', null, 7, {}, [], ['x'], true]) }),
      () => ({ ...claims, amr: pick<unknown>(['pwd', null, {}, [1], [null]]) }),
      () => ({ ...claims, auth_time: pick<unknown>(['0', -1, 1.5, null, []]) }),
      () => without(claims, pick(['iss', 'aud', 'sub', 'sid', 'jti', 'iat', 'exp', 'amr', 'auth_time'])),
    ])();
  }

  /** Makes claims that would be right under the service's signature. */
  function wishedClaims(): Fields {
    return pick<() => Fields>([
      () => claims,
      () => ({ ...claims, sub: pick(['admin', 'someone-else', '00000000-0000-7000-8000-000000000000']) }),
      () => ({ ...claims, exp: nowSeconds + 600 + seconds() }),
      () => ({ ...claims, sid: 'another session' }),
      () => ({ ...claims, amr: ['pwd', 'otp', 'mfa'], auth_time: nowSeconds }),
      () => ({ ...claims, role: 'operator' }),
    ])();
  }

  function wrongHeader(): Fields {
    const kids: readonly [unknown, ...unknown[]] = [
      `${kid} `,
      'k9',
      '',
      '../../../dev/null',
      '__proto__',
      'constructor',
      [kid],
      { kid },
      7,
      null,
      kid.repeat(50),
    ];
    return pick<() => Fields>([
      () => ({
        ...good,
        alg: pick<unknown>([
          'none',
          'None',
          'NONE',
          '',
          'eddsa',
          'EDDSA',
          'Ed25519',
          'HS256',
          'HS512',
          'RS256',
          'PS256',
          'ES256',
          null,
          0,
          ['EdDSA'],
          {},
        ]),
      }),
      () => ({ ...good, kid: pick(kids) }),
      () => ({ ...good, typ: pick<unknown>(['JWT', 'jwt', 'rt+jwt', 'at', '', null, 1, ['at+jwt']]) }),
      () => without(good, pick(['alg', 'kid', 'typ'])),
      () => ({ ...good, crit: pick<unknown>([['exp'], ['b64'], [], 'exp', [''], null, {}]) }),
      () => ({ ...good, b64: pick([false, true]), crit: ['b64'] }),
      () => ({ ...good, jwk: strangerJwk }),
      () => ({ ...good, jku: 'https://attacker.example/jwks.json' }),
      () => ({ ...good, x5u: 'https://attacker.example/cert.pem' }),
      () => ({ ...good, x5c: [encode(stranger.publicKey.export({ type: 'spki', format: 'der' }))] }),
      () => ({
        ...good,
        [pick(['x5t', 'x5t#S256', 'zip', 'enc', 'cty', 'epk', 'p2c', 'url', 'nonce'])]: pick([
          'DEF',
          'JWT',
          'x',
        ]),
      }),
    ])();
  }

  /** Returns the service's public key in the forms in which a confused verifier may use it as a shared secret. */
  function publicKeyAsSecret(): Buffer | string {
    const jwk = publicKey.export({ format: 'jwk' });
    return pick<Buffer | string>([
      Buffer.from(jwk.x ?? '', 'base64url'),
      jwk.x ?? '',
      JSON.stringify(jwk),
      publicKey.export({ type: 'spki', format: 'pem' }),
      publicKey.export({ type: 'spki', format: 'der' }),
      '',
    ]);
  }

  function withHmac(): string {
    const hash = pick(['sha256', 'sha384', 'sha512']);
    const alg = pick(['EdDSA', `HS${hash.slice(3)}`, `hs${hash.slice(3)}`]);
    const input = inputOf({ ...good, alg }, wishedClaims());
    return `${input}.${createHmac(hash, publicKeyAsSecret()).update(input).digest('base64url')}`;
  }

  function wrongSignature(): string {
    const bytes = Buffer.from(signature, 'base64url');
    const flipped = Buffer.from(bytes);
    const at = below(bytes.length);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << below(8)), at);
    return encode(
      pick([
        flipped,
        bytes.subarray(0, below(64)),
        Buffer.concat([bytes, Buffer.alloc(1 + below(9), below(256))]),
        Buffer.alloc(64, pick([0, 1, 255])),
        Buffer.from(bytes).reverse(),
        Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)]),
        withGroupOrderAdded(bytes),
      ]),
    );
  }

  /**
   * Adds the group order to S. The same equation holds for S and S + L; a verifier must refuse the second (RFC 8032,
   * section 5.1.7).
   */
  function withGroupOrderAdded(bytes: Buffer): Buffer {
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`);
    const added = (s + groupOrder).toString(16).padStart(64, '0');
    return Buffer.concat([bytes.subarray(0, 32), Buffer.from(added, 'hex').reverse()]);
  }

  /** Spells the same bytes differently. */
  function respelled(): string {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const place = below(first.length);
    const inserted = pick([' ', '\n', '\r', '\t', '\u0000', '=', '%', '\u200b', '\ufeff', '~']);
    return pick<() => string>([
      () => first.slice(0, place) + inserted + first.slice(place),
      () => `${head}=.${body}.${signature}`,
      () => `${head}.${body}==.${signature}`,
      () => `${first}${'='.repeat(1 + below(3))}`,
      () => first.replaceAll('.', pick(['%2E', '%2e', '。', '．'])),
      () => encodeURIComponent(`${first}\n`),
      () => `${first.slice(0, -1)}${alphabet.charAt(below(64))}`,
      () => {
        const [one, two] = [Buffer.from(head, 'base64url'), Buffer.from(body, 'base64url')];
        return `${one.toString('base64')}.${two.toString('base64')}=.${signature}`;
      },
      () => `${Buffer.from(head, 'base64url').toString('hex')}.${body}.${signature}`,
    ])();
  }

  /** Puts the same claims, or more of them, as another JSON text under the old signature. */
  function rewritten(): string {
    const text = Buffer.from(body, 'base64url').toString();
    const again = pick([
      ` ${text}`,
      text.replace('{', `{"sub":"admin",`),
      text.replace(/\}$/, `,"sub":"admin"}`),
      text.replace('"sub"', '"s\\u0075b"'),
      JSON.stringify(claims, null, 1),
      JSON.stringify(Object.fromEntries(Object.entries(claims).reverse())),
      `\ufeff${text}`,
      `[${text}]`,
      `${text}${text}`,
      'null',
      '',
    ]);
    return `${head}.${encode(again)}.${signature}`;
  }

  function otherForm(): string {
    const flattened = { payload: body, protected: head, signature };
    return pick([
      JSON.stringify(flattened),
      JSON.stringify({ payload: body, signatures: [{ protected: head, signature }] }),
      JSON.stringify({ ...flattened, header: { alg: 'none' } }),
      `${head}.${body}`,
      `${head}.${body}.`,
      `${head}..${signature}`,
      `.${body}.${signature}`,
      `${first}.`,
      `.${first}`,
      `${first}.${signature}`,
      `${first}.${second}`,
      `${head}.${body}.${signature}.${encode('iv')}.${encode('tag')}`,
      `Bearer ${first}`,
      `"${first}"`,
      `${first},${second}`,
      ours({ ...good, cty: 'JWT' }, encode(first)),
      ours(good, encode(first)),
      ours(good, encode(JSON.stringify(first))),
      theirs(good, encode(first)),
    ]);
  }

  function spliced(): string {
    const parts: readonly [readonly [string, ...string[]], ...(readonly [string, ...string[]])[]] = [
      [head, otherHead, body, signature],
      [body, otherBody, head],
      [signature, otherSignature, body],
    ];
    return parts.map(pick).join('.');
  }

  const attacks: readonly [readonly [string, () => string], ...(readonly [string, () => string])[]] = [
    ['a wrong claim, signed with our key', () => ours(good, wrongClaims())],
    ['a wrong header, signed with our key', () => ours(wrongHeader(), claims)],
    [
      'a wrong header under the old signature',
      () => `${inputOf(wrongHeader(), wishedClaims())}.${signature}`,
    ],
    ['a wrong header without a signature', () => `${inputOf(wrongHeader(), wishedClaims())}.`],
    ['signed by a stranger', () => theirs(good, wishedClaims())],
    ['a wrong header, signed by a stranger', () => theirs(wrongHeader(), wishedClaims())],
    ['a secret made of our public key', withHmac],
    ['a wrong signature', () => `${head}.${body}.${wrongSignature()}`],
    ['spelled differently', respelled],
    ['other JSON under the old signature', rewritten],
    ['another form', otherForm],
    ['parts of different tokens', spliced],
  ];

  return () => {
    for (;;) {
      const [attack, make] = pick(attacks);
      const token = make();
      if (!tokens.includes(token)) return { attack, token };
    }
  };
}
