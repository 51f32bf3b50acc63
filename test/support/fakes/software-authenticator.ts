import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Deviations from what an honest browser and authenticator would do. */
export interface Deviations {
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  /** The credential's id, as of another passkey. */
  readonly id?: Buffer;
  /** The second coordinate of the public key. */
  readonly y?: Buffer;
  readonly type?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  /** Default: user present, user verified. */
  readonly isVerified?: boolean;
  readonly isPresent?: boolean;
  readonly counter?: number;
  /** Whether devices share the passkey; the default is true. */
  readonly isSynced?: boolean;
  readonly userHandle?: string;
  /** The attestation; the default is none. */
  readonly attestation?: { readonly format: string; readonly statement: Cbor };
}

interface Made {
  readonly id: Buffer;
  readonly userHandle: string;
  readonly privateKey: KeyObject;
  counter: number;
}

/** `create` and `get` give the JSON that browsers give: WebAuthn Level 3, section 5.1.8. */
export interface SoftwareAuthenticator {
  create(publicKey: CreationOptions, deviations?: Deviations): ReturnType<typeof registrationOf>;
  /** Signs with the last passkey that it has made. */
  get(publicKey: RequestOptions, deviations?: Deviations): ReturnType<typeof assertionOf>;
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}
interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

/** Makes an authenticator for ES256. @param counts whether its passkeys count their uses */
export function makeSoftwareAuthenticator({
  counts = true,
}: { readonly counts?: boolean } = {}): SoftwareAuthenticator {
  let last: Made | null = null;
  return {
    create: ({ challenge, rp, user }, deviations = {}) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      last = { id: deviations.id ?? randomBytes(32), userHandle: user.id, privateKey, counter: 0 };
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const key = cbor(
        new Map<Cbor, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(x, 'base64url')],
          [-3, deviations.y ?? Buffer.from(y, 'base64url')],
        ]),
      );
      const length = Buffer.alloc(2);
      length.writeUInt16BE(last.id.length);
      const data = authenticatorData({ rpId: rp.id, counter: 0, ...deviations }, [
        Buffer.alloc(16),
        length,
        last.id,
        key,
      ]);
      // Some browsers leave out `crossOrigin`, and others write false.
      const client = clientData({ type: 'webauthn.create', challenge, ...deviations });
      return registrationOf(last.id, client, data, deviations);
    },
    get: ({ challenge, rpId }, deviations = {}) => {
      if (last === null) throw new Error('the authenticator has no passkey');
      if (counts) last.counter += 1;
      const data = authenticatorData({ rpId, counter: last.counter, ...deviations }, []);
      const client = clientData({ type: 'webauthn.get', challenge, crossOrigin: false, ...deviations });
      return assertionOf(last, client, data, deviations);
    },
  };
}

function registrationOf(id: Buffer, client: Buffer, data: Buffer, { attestation }: Deviations) {
  const object = new Map<Cbor, Cbor>([
    ['fmt', attestation?.format ?? 'none'],
    ['attStmt', attestation?.statement ?? new Map()],
    ['authData', data],
  ]);
  return {
    ...credentialOf(id),
    response: {
      clientDataJSON: client.toString('base64url'),
      attestationObject: cbor(object).toString('base64url'),
      authenticatorData: data.toString('base64url'),
      transports: ['internal', 'hybrid'],
    },
  };
}

function assertionOf(
  { id, privateKey, userHandle }: Made,
  client: Buffer,
  data: Buffer,
  deviations: Deviations,
) {
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
  return {
    ...credentialOf(id),
    response: {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, privateKey).toString('base64url'),
      userHandle: deviations.userHandle ?? userHandle,
    },
  };
}

function credentialOf(id: Buffer) {
  const text = id.toString('base64url');
  return {
    ...{ id: text, rawId: text, type: 'public-key', authenticatorAttachment: 'platform' },
    clientExtensionResults: {},
  };
}

function clientData({
  type,
  challenge,
  origin = 'https://example.org',
  crossOrigin,
  topOrigin,
}: {
  readonly type: string;
  readonly challenge: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
}): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin, topOrigin }));
}

/** WebAuthn Level 3, section 6.1. @param attested the parts of the attested credential data */
function authenticatorData(
  {
    rpId,
    counter,
    isPresent = true,
    isVerified = true,
    isSynced = true,
  }: { readonly rpId: string; readonly counter: number } & Deviations,
  attested: readonly Buffer[],
): Buffer {
  const rest = Buffer.alloc(5);
  // Flags: UP, UV, BE and BS (a synced passkey), AT.
  rest[0] =
    Number(isPresent) | (Number(isVerified) << 2) | (isSynced ? 0x18 : 0) | (attested.length > 0 ? 0x40 : 0);
  rest.writeUInt32BE(counter, 1);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), rest, ...attested]);
}

type Cbor = number | string | Buffer | readonly Cbor[] | ReadonlyMap<Cbor, Cbor>;

/** Encodes what authenticators need of CBOR (RFC 8949). */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    const pairs = [...value].flatMap(([key, item]: [Cbor, Cbor]) => [cbor(key), cbor(item)]);
    return Buffer.concat([head(5, value.size), ...pairs]);
  }
  const items = value as readonly Cbor[];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  if (size < 0x100) return Buffer.from([(major << 5) | 24, size]);
  return Buffer.from([(major << 5) | 25, size >> 8, size & 0xff]);
}
