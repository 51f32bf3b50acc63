import type { StorageProvider } from '../bucket/region.js';

/** How a storage is reached. Omitted fields are `''`. */
export interface StorageConfiguration {
  readonly name: string;
  readonly provider: StorageProvider;
  readonly endpoint: string;
  /** The origin that browsers use in place of `endpoint`. */
  readonly public_endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly base_path: string;
  readonly cdn_domain: string;
}
