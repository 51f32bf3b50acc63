import { createHmac, hash } from 'node:crypto';
import { makeDailyKey } from './daily-key.js';
import { byName, encodeKey, encodeRfc3986 } from './encoding.js';
import { basicTime, checkLife, type SignerAddress, type StorageKeys, type StorageSigner } from './signer.js';

const algorithm = 'OSS4-HMAC-SHA256';
const unsignedPayload = 'UNSIGNED-PAYLOAD';

/**
 * Alibaba Cloud OSS, signature version 4 ("Include a V4 signature in the URL" and "… in the Authorization header"). The
 * canonical path names the bucket whatever the host, and the host is signed too, as an additional header, so that a URL
 * holds for no other name of the bucket than the one it was made for.
 */
export function makeOssSigner(address: SignerAddress, keys: StorageKeys): StorageSigner {
  const { protocol, host, pathPrefix, bucket, region } = address;
  const dailyKey = makeDailyKey('aliyun_v4', keys.secret, [region, 'oss', 'aliyun_v4_request']);

  return {
    presign: ({ method, key, query = {}, headers = {}, signedAt, expiresInSeconds }) => {
      checkLife(expiresInSeconds);
      const time = basicTime(signedAt);
      const additional = additionalNames(headers);
      const parameters = canonicalQuery([
        ['x-oss-additional-headers', additional],
        ['x-oss-credential', `${keys.id}/${scopeOf(time)}`],
        ['x-oss-date', time],
        ['x-oss-expires', String(expiresInSeconds)],
        ['x-oss-signature-version', algorithm],
        ...(keys.sessionToken === undefined ? [] : ([['x-oss-security-token', keys.sessionToken]] as const)),
        ...Object.entries(query),
      ]);
      const signature = signatureOf({ method, key, query: parameters, headers, additional, time });
      return `${protocol}//${host}${pathPrefix}${encodeKey(key)}?${parameters}&x-oss-signature=${signature}`;
    },

    sign: ({ method, key, query = {}, headers = {}, signedAt }) => {
      const time = basicTime(signedAt);
      const own = {
        'x-oss-content-sha256': unsignedPayload,
        'x-oss-date': time,
        ...(keys.sessionToken === undefined ? {} : { 'x-oss-security-token': keys.sessionToken }),
        ...headers,
      };
      const additional = additionalNames(own);
      const parameters = canonicalQuery(Object.entries(query));
      const signature = signatureOf({ method, key, query: parameters, headers: own, additional, time });
      const authorization = `${algorithm} Credential=${keys.id}/${scopeOf(time)},AdditionalHeaders=${additional},Signature=${signature}`;
      const target = `${protocol}//${host}${pathPrefix}${encodeKey(key)}`;
      return {
        url: parameters === '' ? target : `${target}?${parameters}`,
        headers: { ...own, authorization },
      };
    },
  };

  function scopeOf(time: string): string {
    return `${time.slice(0, 8)}/${region}/oss/aliyun_v4_request`;
  }

  function signatureOf(request: {
    readonly method: string;
    readonly key: string;
    readonly query: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly additional: string;
    readonly time: string;
  }): string {
    const { method, key, query, headers, additional, time } = request;
    const lines = Object.entries({ host, ...headers })
      .map(([name, value]): [string, string] => [name, value.trim()])
      .sort(byName)
      .map(([name, value]) => `${name}:${value}\n`)
      .join('');
    const path = `/${bucket}/${encodeKey(key)}`;
    const canonical = `${method}\n${path}\n${query}\n${lines}\n${additional}\n${unsignedPayload}`;
    const toSign = `${algorithm}\n${time}\n${scopeOf(time)}\n${hash('sha256', canonical)}`;
    return createHmac('sha256', dailyKey(time.slice(0, 8)))
      .update(toSign)
      .digest('hex');
  }
}

/** Headers that OSS signs only where they are listed: all but its own and the content's type and digest. */
function additionalNames(headers: Readonly<Record<string, string>>): string {
  const listed = Object.keys(headers).filter((name) => !alwaysSigned.test(name));
  return ['host', ...listed].sort().join(';');
}

const alwaysSigned = /^(?:content-type|content-md5|x-oss-.*)$/;

/** A parameter without a value stands as its bare name. */
function canonicalQuery(parameters: readonly (readonly [string, string])[]): string {
  return parameters
    .map(([name, value]): [string, string] => [encodeRfc3986(name), encodeRfc3986(value)])
    .sort(byName)
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
    .join('&');
}
