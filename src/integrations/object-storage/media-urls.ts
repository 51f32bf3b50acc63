import { encodeObjectKey } from './encoding.js';
import type { PresignRequest, SignerAddress, StorageKeys, StorageSigner } from './signer.js';
import { makeCosSigner } from './cos-signer.js';
import { makeOssSigner } from './oss-signer.js';
import { makeS3Signer } from './s3-signer.js';

/** The address of a storage's bucket, and the use of the domain in front of it (docs/design.md#delivery). */
export interface DeliveryAddress extends SignerAddress {
  readonly provider: 's3' | 'oss' | 'cos';
  /** The host that URLs for clients name in place of `host`. */
  readonly publicHost: string;
  /** The host of the storage's domain; `''` without one. */
  readonly cdnDomain: string;
  readonly mode: 'origin' | 'rewrite' | 'public';
}

export interface StorageUrls {
  /** The signer for requests that this service sends to the bucket itself. */
  readonly bucket: StorageSigner;
  /** Signs a URL to write an object to. It never names the domain in front of the bucket. */
  uploadUrl(request: Omit<PresignRequest, 'method'>): string;
  /** Signs a URL to fetch an object from, through the storage's domain if it has one. */
  mediaUrl(request: MediaRequest): string;
}

type MediaRequest = Omit<PresignRequest, 'method' | 'headers'>;

const makers = { s3: makeS3Signer, oss: makeOssSigner, cos: makeCosSigner };

export type MakeStorageUrls = (address: DeliveryAddress, keys: StorageKeys) => StorageUrls;

/** Makes a storage's signers. They cache keys derived from the secret: keep them only as long as the secret. */
export function makeStorageUrls(address: DeliveryAddress, keys: StorageKeys): StorageUrls {
  const { provider, host, publicHost } = address;
  const make = makers[provider];
  const bucket = make(address, keys);
  const handedOut = publicHost === host ? bucket : make({ ...address, host: publicHost }, keys);
  return {
    bucket,
    uploadUrl: (request) => handedOut.presign({ ...request, method: 'PUT' }),
    mediaUrl: makeMediaUrl(address, handedOut, (named) => make(named, keys)),
  };
}

function makeMediaUrl(
  address: DeliveryAddress,
  handedOut: StorageSigner,
  make: (address: SignerAddress) => StorageSigner,
): StorageUrls['mediaUrl'] {
  const { protocol, publicHost, cdnDomain, mode } = address;
  if (cdnDomain === '') return (request) => handedOut.presign(fetching(request));
  switch (mode) {
    case 'origin': {
      // The domain is another name of the bucket, so the URL is signed for the domain.
      const named = make({ ...address, protocol: 'https:', host: cdnDomain, pathPrefix: '/' });
      return (request) => named.presign(fetching(request));
    }
    case 'rewrite': {
      const origin = `${protocol}//${publicHost}/`;
      return (request) => {
        const signed = handedOut.presign(fetching(request));
        return `https://${cdnDomain}/${signed.slice(origin.length)}`;
      };
    }
    case 'public':
      return ({ key }) => `https://${cdnDomain}/${encodeObjectKey(key)}`;
  }
}

/** Copies field by field: a spread costs more time than a hash. */
function fetching({ key, query = {}, signedAt, expiresInSeconds }: MediaRequest): PresignRequest {
  return { method: 'GET', key, query, signedAt, expiresInSeconds };
}
