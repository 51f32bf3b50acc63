import { checkEach } from '../../../../validation/field-problems.js';
import { checkName } from '../../../../validation/text.js';
import { type AllowsHttp, type EndpointField, checkBasePath, checkEndpoint } from '../bucket/endpoint.js';
import { checkBucket } from '../bucket/bucket.js';
import { checkCdnDomain } from '../delivery/delivery.js';
import { checkConnection } from '../bucket/connection.js';
import type { StorageConfiguration } from './configuration-fields.js';
import { checkRegion } from '../bucket/region.js';

export type { StorageConfiguration } from './configuration-fields.js';

/**
 * Normalises and checks a configuration (src/areas/storages/README.md#rules-of-a-storage).
 * @param present the configuration before the change; null for a new storage
 * @throws CommandRejected invalid_request
 */
export function checkConfiguration(
  input: StorageConfiguration,
  allowsHttp: AllowsHttp,
  present: StorageConfiguration | null = null,
): StorageConfiguration {
  const { provider } = input;
  const endpointOf = (field: EndpointField): string =>
    checkEndpoint({ provider, bucket: input.bucket, endpoint: input[field], field }, allowsHttp);
  const checked = checkEach({
    bucket: () => checkBucket(provider, input.bucket),
    name: () => checkName(input.name),
    endpoint: () => endpointOf('endpoint'),
    public_endpoint: () => endpointOf('public_endpoint'),
    region: () => checkRegion(provider, input.region),
    base_path: () => checkBasePath(input.base_path, provider),
    cdn_domain: () => checkCdnDomain(input.cdn_domain),
  });
  const configuration = { provider, ...checked };
  checkConnection(configuration, present);
  return configuration;
}
