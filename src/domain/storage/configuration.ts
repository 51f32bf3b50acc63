import { invalid } from '../invalid-request.js';
import { checkName } from '../text.js';
import { checkBasePath } from './base-path.js';
import { checkBucket } from './bucket.js';
import { checkCdnDomain } from './cdn-domain.js';
import { type AllowsHttp, checkEndpoint } from './endpoint.js';
import type { StorageProvider } from './provider.js';
import { checkRegion, serviceHost } from './region.js';

/** How a storage is reached. Omitted fields are `''`. */
export interface StorageConfiguration {
  readonly name: string;
  readonly provider: StorageProvider;
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly base_path: string;
  readonly cdn_domain: string;
}

/** Normalises and checks a configuration (docs/design.md#storages). @throws CommandRejected invalid_request */
export function checkConfiguration(
  input: StorageConfiguration,
  allowsHttp: AllowsHttp,
): StorageConfiguration {
  const { provider } = input;
  const bucket = checkBucket(provider, input.bucket);
  const configuration = {
    name: checkName(input.name),
    provider,
    endpoint: checkEndpoint({ provider, bucket, endpoint: input.endpoint }, allowsHttp),
    bucket,
    region: checkRegion(provider, input.region),
    base_path: checkBasePath(input.base_path),
    cdn_domain: checkCdnDomain(input.cdn_domain),
  };
  checkRegionAndEndpoint(configuration);
  return configuration;
}

function checkRegionAndEndpoint({ provider, endpoint, region }: StorageConfiguration): void {
  if (provider === 'cos' && endpoint === '' && region === '') {
    invalid('region', 'cos needs a region or a full endpoint');
  }
  if (endpoint === '' || region === '') return;
  const implied = serviceHost(provider, new URL(endpoint).hostname).region;
  if (implied !== null && implied !== region) {
    invalid('region', `does not agree with the endpoint, which is in ${implied}`);
  }
}
