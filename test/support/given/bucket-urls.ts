import {
  type DeliveryAddress,
  makeStorageUrls,
  type StorageUrls,
} from '../../../src/areas/storages/bucket/signing/media-urls.js';
import type { StorageKeys } from '../../../src/areas/storages/bucket/signing/signer.js';

/** Makes the URLs of a bucket of S3 in the style of paths, at a host. Clients use the same place by default. */
export function bucketUrls(
  changes: Partial<DeliveryAddress> & Pick<DeliveryAddress, 'host'>,
  keys: StorageKeys = { id: 'an-id', secret: 'a-secret' },
): StorageUrls {
  const place = { ...({ protocol: 'http:', pathPrefix: '/media/' } as const), ...changes };
  const { protocol, host, pathPrefix } = place;
  return makeStorageUrls(
    {
      ...({ provider: 's3', bucket: 'media', region: 'eu-west-1', cdnDomain: '', mode: 'rewrite' } as const),
      ...{ client: { protocol, host, pathPrefix }, ...place },
    },
    keys,
  );
}
