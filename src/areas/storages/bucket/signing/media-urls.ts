import { isDeepStrictEqual } from 'node:util';
import { type CdnToken, isSignedByRsa, makeCdnTokenUrl } from './cdn-token.js';
import {
  type PresignRequest,
  type SignerAddress,
  type StorageKeys,
  type StorageSigner,
  encodeObjectKey,
} from './signer.js';
import { makeCosSigner } from './cos-signer.js';
import { makeOssSigner } from './oss-signer.js';
import { makeS3Signer } from './s3-signer.js';
import type { AccountOf } from '../../../../outgoing/shared-lookup.js';

/** The address of a storage's bucket, and the use of the domain in front of it (src/areas/storages/README.md#delivery). */
export interface DeliveryAddress extends SignerAddress {
  readonly provider: 's3' | 'oss' | 'cos';
  /** The place that URLs for clients name. */
  readonly client: Pick<SignerAddress, 'protocol' | 'host' | 'pathPrefix'>;
  /** The host of the storage's domain; `''` without one. */
  readonly cdnDomain: string;
  readonly mode: 'origin' | 'rewrite' | 'public' | 'token';
  /** Of the mode `token`. */
  readonly cdnToken?: CdnToken | null;
}

export interface StorageUrls {
  /** The signer for requests that this service sends to the bucket itself. */
  readonly bucket: StorageSigner;
  /** The account that requests of this service to the bucket are for. */
  readonly account?: AccountOf;
  /** The signer for URLs that clients use, without the domain in front of the bucket. */
  readonly client: StorageSigner;
  /** Signs a URL to write an object to. It never names the domain in front of the bucket. */
  uploadUrl(request: Omit<PresignRequest, 'method'>): string;
  /** Signs a URL to write one part of an object to. */
  partUrl(request: PartRequest): string;
  /** Signs a URL to fetch an object from, through the storage's domain if it has one. */
  mediaUrl(request: MediaRequest): string;
  /** What `mediaUrl` takes, in elements of a turn (src/kit/read-in-turns.ts). */
  readonly mediaUrlElements: number;
}

/** `size` is signed, so the part has exactly this size in bytes. */
type PartRequest = Omit<PresignRequest, 'method' | 'headers' | 'query'> & {
  readonly bucketUploadId: string;
  readonly partNumber: number;
  readonly size: number;
};

type MediaRequest = Omit<PresignRequest, 'method' | 'headers'>;

/** What a hash and an RSA signature of 2,048 bits take, in elements of a turn: about 5 µs, and 0.3 ms. */
const [elementsOfHash, elementsOfRsa] = [4, 250];

const makers = { s3: makeS3Signer, oss: makeOssSigner, cos: makeCosSigner };

export type MakeStorageUrls = (address: DeliveryAddress, keys: StorageKeys) => StorageUrls;

/** Makes a storage's signers. They cache keys derived from the secret: keep them only as long as the secret. */
export function makeStorageUrls(address: DeliveryAddress, keys: StorageKeys): StorageUrls {
  const { provider, client, cdnToken = null } = address;
  const make = makers[provider];
  const bucket = make(address, keys);
  const handedOut = isDeepStrictEqual(client, placeOf(address))
    ? bucket
    : make({ ...address, ...client }, keys);
  return {
    bucket,
    client: handedOut,
    uploadUrl: (request) => handedOut.presign({ ...request, method: 'PUT' }),
    partUrl: ({ bucketUploadId: uploadId, partNumber, size, ...request }) =>
      handedOut.presign({
        ...request,
        method: 'PUT',
        query: { partNumber: String(partNumber), uploadId },
        headers: { 'content-length': String(size) },
      }),
    mediaUrl: makeMediaUrl(address, handedOut, (named) => make(named, keys)),
    mediaUrlElements: cdnToken !== null && isSignedByRsa(cdnToken) ? elementsOfRsa : elementsOfHash,
  };
}

function placeOf({ protocol, host, pathPrefix }: SignerAddress): DeliveryAddress['client'] {
  return { protocol, host, pathPrefix };
}

function makeMediaUrl(
  address: DeliveryAddress,
  handedOut: StorageSigner,
  make: (address: SignerAddress) => StorageSigner,
): StorageUrls['mediaUrl'] {
  const { client, cdnDomain, mode, cdnToken = null } = address;
  if (cdnDomain === '') return (request) => handedOut.presign(fetching(request));
  switch (mode) {
    case 'origin': {
      // The domain is another name of the bucket, so the URL is signed for the domain.
      const named = make({ ...address, protocol: 'https:', host: cdnDomain, pathPrefix: '/' });
      return (request) => named.presign(fetching(request));
    }
    case 'rewrite': {
      const origin = `${client.protocol}//${client.host}/`;
      return (request) => {
        const signed = handedOut.presign(fetching(request));
        return `https://${cdnDomain}/${signed.slice(origin.length)}`;
      };
    }
    case 'public':
      return ({ key }) => `https://${cdnDomain}/${encodeObjectKey(key)}`;
    case 'token':
      return withToken(cdnDomain, cdnToken);
  }
}

function withToken(cdnDomain: string, token: CdnToken | null): StorageUrls['mediaUrl'] {
  if (token === null) throw new Error('the delivery mode token needs a token');
  const urlOf = makeCdnTokenUrl(token);
  return ({ key, signedAt, expiresInSeconds }) => {
    const endsAt = Math.floor(signedAt.getTime() / 1_000) + expiresInSeconds;
    return urlOf({ origin: `https://${cdnDomain}`, path: `/${encodeObjectKey(key)}`, endsAt });
  };
}

/** Copies field by field: a spread costs more time than a hash. */
function fetching({ key, query = {}, signedAt, expiresInSeconds }: MediaRequest): PresignRequest {
  return { method: 'GET', key, query, signedAt, expiresInSeconds };
}
