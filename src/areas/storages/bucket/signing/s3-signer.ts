import {
  type SignerAddress,
  type StorageKeys,
  type StorageSigner,
  basicTime,
  byName,
  canonicalQuery,
  checkLife,
  encodeObjectKey,
  makeV4,
  urlOf,
} from './signer.js';

const algorithm = 'AWS4-HMAC-SHA256';
const unsignedPayload = 'UNSIGNED-PAYLOAD';

/** Makes the signer for AWS Signature Version 4 for S3 (Amazon S3 API Reference, "Authenticating Requests"). */
export function makeS3Signer(address: SignerAddress, keys: StorageKeys): StorageSigner {
  const { host, pathPrefix } = address;
  const { scopeOf, signatureOf } = makeV4(
    { algorithm, prefix: 'AWS4', service: 's3', request: 'aws4_request' },
    address,
    keys,
  );
  return {
    presign: ({ method, key, query = {}, headers = {}, signedAt, expiresInSeconds }) => {
      checkLife(expiresInSeconds);
      const time = basicTime(signedAt);
      const signed = sortedHeaders({ host, ...headers });
      const parameters = canonicalQuery([
        ['X-Amz-Algorithm', algorithm],
        ['X-Amz-Credential', `${keys.id}/${scopeOf(time)}`],
        ['X-Amz-Date', time],
        ['X-Amz-Expires', String(expiresInSeconds)],
        ['X-Amz-SignedHeaders', namesOf(signed)],
        ...Object.entries(query),
      ]);
      const path = encodeObjectKey(key);
      const signature = signatureOf(canonicalOf({ method, path, query: parameters, signed }), time);
      return urlOf(address, path, `${parameters}&X-Amz-Signature=${signature}`);
    },
    sign: ({ method, key, query = {}, headers = {}, signedAt }) => {
      const time = basicTime(signedAt);
      const own = { 'x-amz-content-sha256': unsignedPayload, 'x-amz-date': time, ...headers };
      const signed = sortedHeaders({ host, ...own });
      const parameters = canonicalQuery(Object.entries(query));
      const path = encodeObjectKey(key);
      const signature = signatureOf(canonicalOf({ method, path, query: parameters, signed }), time);
      const authorization = `${algorithm} Credential=${keys.id}/${scopeOf(time)}, SignedHeaders=${namesOf(signed)}, Signature=${signature}`;
      return { url: urlOf(address, path, parameters), headers: { ...own, authorization } };
    },
  };

  function canonicalOf(request: {
    readonly method: string;
    readonly path: string;
    readonly query: string;
    readonly signed: readonly (readonly [string, string])[];
  }): string {
    const { method, path, query, signed } = request;
    const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('');
    return `${method}\n${pathPrefix}${path}\n${query}\n${lines}\n${namesOf(signed)}\n${unsignedPayload}`;
  }
}

function sortedHeaders(headers: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(headers)
    .map(([name, value]): [string, string] => [name, value.trim().replace(/ +/g, ' ')])
    .sort(byName);
}

function namesOf(headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name]) => name).join(';');
}
