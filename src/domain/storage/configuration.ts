import { checkName } from '../text.js';
import { checkBasePath } from './base-path.js';
import { checkBucket } from './bucket.js';
import { checkCdnDomain } from './cdn-domain.js';
import { checkConnection } from './connection.js';
import { type AllowsHttp, checkEndpoint } from './endpoint.js';
import type { StorageConfiguration } from './configuration-fields.js';
import { checkRegion } from './region.js';
import { sameConnection } from './status.js';

export type { StorageConfiguration } from './configuration-fields.js';

/**
 * Normalises and checks a configuration (docs/design.md#storages).
 * @param present the configuration before the change; null for a new storage
 * @throws CommandRejected invalid_request
 */
export function checkConfiguration(
  input: StorageConfiguration,
  allowsHttp: AllowsHttp,
  present: StorageConfiguration | null = null,
): StorageConfiguration {
  const { provider } = input;
  const bucket = checkBucket(provider, input.bucket);
  const configuration = {
    name: checkName(input.name),
    provider,
    endpoint: checkEndpoint({ provider, bucket, endpoint: input.endpoint }, allowsHttp),
    public_endpoint: checkEndpoint(
      { provider, bucket, endpoint: input.public_endpoint, field: 'public_endpoint' },
      allowsHttp,
    ),
    bucket,
    region: checkRegion(provider, input.region),
    base_path: checkBasePath(input.base_path, provider),
    cdn_domain: checkCdnDomain(input.cdn_domain),
  };
  // A storage that an earlier version accepted stays changeable in its other fields.
  if (present === null || !sameConnection(present, configuration)) checkConnection(configuration, present);
  return configuration;
}
