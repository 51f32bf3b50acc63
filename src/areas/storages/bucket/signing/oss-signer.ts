import {
  type SignerAddress,
  type StorageKeys,
  type StorageSigner,
  basicTime,
  byName,
  checkLife,
  encodeObjectKey,
  encodeRfc3986,
  makeV4,
  urlOf,
} from './signer.js';

const algorithm = 'OSS4-HMAC-SHA256';
const unsignedPayload = 'UNSIGNED-PAYLOAD';

/**
 * Makes the signer for Alibaba Cloud OSS, version 4 ("Include a V4 signature in the URL", "… in the Authorization
 * header"). The canonical path names the bucket under every host. OSS also signs the host, so a URL holds only for its
 * host name.
 */
export function makeOssSigner(address: SignerAddress, keys: StorageKeys): StorageSigner {
  const { host, bucket } = address;
  const { scopeOf, signatureOf } = makeV4(
    { algorithm, prefix: 'aliyun_v4', service: 'oss', request: 'aliyun_v4_request' },
    address,
    keys,
  );
  const onlyHost: readonly Pair[] = [['host', host]];
  let known: Life | undefined;
  return {
    presign: ({ method, key, query = {}, headers = {}, signedAt, expiresInSeconds }) => {
      checkLife(expiresInSeconds);
      const additional = additionalNames(headers);
      const { time, parameters: shared } = lifeOf(signedAt, expiresInSeconds);
      const parameters = joined([
        ...encoded(query),
        ['x-oss-additional-headers', encodeRfc3986(additional)],
        ...shared,
      ]);
      const path = encodeObjectKey(key);
      const canonical = canonicalOf({ method, path, query: parameters, headers, additional });
      return urlOf(address, path, `${parameters}&x-oss-signature=${signatureOf(canonical, time)}`);
    },
    sign: ({ method, key, query = {}, headers = {}, signedAt }) => {
      const time = basicTime(signedAt);
      const own = { 'x-oss-content-sha256': unsignedPayload, 'x-oss-date': time, ...headers };
      const additional = additionalNames(own);
      const parameters = joined(encoded(query));
      const path = encodeObjectKey(key);
      const canonical = canonicalOf({ method, path, query: parameters, headers: own, additional });
      const signature = signatureOf(canonical, time);
      const authorization = `${algorithm} Credential=${keys.id}/${scopeOf(time)},AdditionalHeaders=${additional},Signature=${signature}`;
      return { url: urlOf(address, path, parameters), headers: { ...own, authorization } };
    },
  };

  function lifeOf(signedAt: Date, expiresInSeconds: number): Life {
    const atMs = signedAt.getTime();
    if (known?.atMs === atMs && known.expiresInSeconds === expiresInSeconds) return known;
    const time = basicTime(signedAt);
    const parameters = encoded({
      'x-oss-credential': `${keys.id}/${scopeOf(time)}`,
      'x-oss-date': time,
      'x-oss-expires': String(expiresInSeconds),
      'x-oss-signature-version': algorithm,
    });
    known = { atMs, expiresInSeconds, time, parameters };
    return known;
  }

  function canonicalOf(request: {
    readonly method: string;
    readonly path: string;
    readonly query: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly additional: string;
  }): string {
    const { method, path, query, headers, additional } = request;
    const others = Object.entries(headers);
    let lines = '';
    for (const [name, value] of others.length === 0 ? onlyHost : [...onlyHost, ...others].sort(byName)) {
      lines += `${name}:${value.trim()}\n`;
    }
    return `${method}\n/${bucket}/${path}\n${query}\n${lines}\n${additional}\n${unsignedPayload}`;
  }
}

type Pair = readonly [name: string, value: string];

/** The parts that URLs with the same start and life share. Starts are rounded (src/areas/shares/README.md#media-urls). */
interface Life {
  readonly atMs: number;
  readonly expiresInSeconds: number;
  readonly time: string;
  /** Encoded. */
  readonly parameters: readonly Pair[];
}

/** Returns the headers that OSS signs only if listed: all but `x-oss-…` and the content's type and digest. */
function additionalNames(headers: Readonly<Record<string, string>>): string {
  const listed = Object.keys(headers).filter((name) => !alwaysSigned.test(name));
  return listed.length === 0 ? 'host' : ['host', ...listed].sort().join(';');
}

const alwaysSigned = /^(?:content-type|content-md5|x-oss-.*)$/;

function encoded(parameters: Readonly<Record<string, string>>): readonly Pair[] {
  return Object.entries(parameters).map(([name, value]): Pair => [encodeRfc3986(name), encodeRfc3986(value)]);
}

/** Joins the parameters in the order of their names. A parameter without a value is its bare name. */
function joined(parameters: readonly Pair[]): string {
  let text = '';
  for (const [name, value] of parameters.toSorted(byName)) {
    text += text === '' ? name : `&${name}`;
    if (value !== '') text += `=${value}`;
  }
  return text;
}
