import { encodeKey } from './encoding.js';
import type { PresignRequest, SignerAddress, StorageKeys, StorageSigner } from './signer.js';
import { makeCosSigner } from './cos-signer.js';
import { makeOssSigner } from './oss-signer.js';
import { makeS3Signer } from './s3-signer.js';

/** Where a storage's bucket is, and how its own domain in front of it is used (DESIGN 4.3, `delivery`). */
export interface DeliveryAddress extends SignerAddress {
  readonly provider: 's3' | 'oss' | 'cos';
  /** What URLs for others name in place of `host`. */
  readonly publicHost: string;
  /** A host; `''` where there is none. */
  readonly cdnDomain: string;
  readonly mode: 'origin' | 'rewrite' | 'public';
}

/** Signs what one storage serves and takes. */
export interface StorageUrls {
  /** The bucket itself, for requests of our own. */
  readonly bucket: StorageSigner;
  /** A URL to write an object to; never through a domain in front of the bucket. */
  uploadUrl(request: Omit<PresignRequest, 'method'>): string;
  /** A URL to fetch an object from, through the storage's own domain where it has one. Whole keys, without a leading slash. */
  mediaUrl(request: MediaRequest): string;
}

type MediaRequest = Omit<PresignRequest, 'method' | 'headers'>;

const makers = { s3: makeS3Signer, oss: makeOssSigner, cos: makeCosSigner };

/** Makes the signers of a storage. They keep keys that are derived from the secret, so they live as long as it may be in memory. */
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
      // The domain is another name of the bucket, so it is what gets signed.
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
      return ({ key }) => `https://${cdnDomain}/${encodeKey(key)}`;
  }
}

/** Field by field: a spread costs more than a hash. */
function fetching({ key, query = {}, signedAt, expiresInSeconds }: MediaRequest): PresignRequest {
  return { method: 'GET', key, query, signedAt, expiresInSeconds };
}
