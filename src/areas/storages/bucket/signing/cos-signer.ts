import { createHmac, hash } from 'node:crypto';
import {
  type PresignRequest,
  type SignerAddress,
  type StorageKeys,
  type StorageSigner,
  byName,
  checkLife,
  encodeObjectKey,
  encodeRfc3986,
  urlOf,
} from './signer.js';

/** A signature's life begins this many seconds in the past, because the storage's clock may be slow. */
const backdatedSeconds = 60;
/** The life of a request that this service sends itself. */
const headerLifeSeconds = 900;

/**
 * Makes the signer for Tencent Cloud COS ("Request Signature"). Only the signed host names the bucket: without it, a
 * signature would hold in every bucket of the key pair. A holder of the URL may change parameters and headers that the
 * signature does not list, so it lists all.
 */
export function makeCosSigner(address: SignerAddress, keys: StorageKeys): StorageSigner {
  const { host, pathPrefix } = address;
  let known: { readonly times: string; readonly key: string } | undefined;
  return {
    presign: ({ method, key, query = {}, headers = {}, signedAt, expiresInSeconds }) => {
      checkLife(expiresInSeconds);
      const signature = signatureOf({ method, key, query, headers, signedAt, expiresInSeconds });
      const parameters = [...Object.entries(query), ...signature]
        .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
        .join('&');
      return urlOf(address, encodeObjectKey(key), parameters);
    },
    sign: ({ method, key, query = {}, headers = {}, signedAt }) => {
      const expiresInSeconds = headerLifeSeconds;
      const signature = signatureOf({ method, key, query, headers, signedAt, expiresInSeconds });
      const authorization = signature.map(([name, value]) => `${name}=${value}`).join('&');
      const parameters = Object.entries(query)
        .map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`)
        .join('&');
      return {
        url: urlOf(address, encodeObjectKey(key), parameters),
        headers: { ...headers, authorization },
      };
    },
  };

  function signatureOf(request: Required<PresignRequest>): readonly (readonly [string, string])[] {
    const signedAtSeconds = Math.floor(request.signedAt.getTime() / 1_000);
    const times = `${signedAtSeconds - backdatedSeconds};${signedAtSeconds + request.expiresInSeconds}`;
    const headers = listOf({ ...request.headers, host });
    const parameters = listOf(request.query);
    // COS signs the decoded path.
    const path = pathPrefix + request.key;
    const format = `${request.method.toLowerCase()}\n${path}\n${parameters.text}\n${headers.text}\n`;
    const toSign = `sha1\n${times}\n${hash('sha1', format)}\n`;
    return [
      ['q-sign-algorithm', 'sha1'],
      ['q-ak', keys.id],
      ['q-sign-time', times],
      ['q-key-time', times],
      ['q-header-list', headers.names],
      ['q-url-param-list', parameters.names],
      ['q-signature', createHmac('sha1', keyFor(times)).update(toSign).digest('hex')],
    ];
  }

  function keyFor(times: string): string {
    if (known?.times === times) return known.key;
    const key = createHmac('sha1', keys.secret).update(times).digest('hex');
    known = { times, key };
    return key;
  }
}

/** Returns names and pairs in the form that COS signs: encoded, sorted, the names in lower case. */
function listOf(values: Readonly<Record<string, string>>): { readonly names: string; readonly text: string } {
  const entries = Object.entries(values)
    .map(([name, value]): [string, string] => [encodeRfc3986(name).toLowerCase(), encodeRfc3986(value)])
    .sort(byName);
  return {
    names: entries.map(([name]) => name).join(';'),
    text: entries.map(([name, value]) => `${name}=${value}`).join('&'),
  };
}
