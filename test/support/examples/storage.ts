import type { StorageConfiguration } from '../../../src/domain/storage/configuration.js';
import type { StorageEvent } from '../../../src/domain/storage/events.js';
import { projectId } from './ids.js';
import { sealedExample } from './sealed.js';

export const configuration: StorageConfiguration = {
  name: 'Media',
  provider: 'oss',
  endpoint: 'https://oss-cn-hangzhou.aliyuncs.com',
  bucket: 'rivers-media',
  region: 'cn-hangzhou',
  base_path: 'videos/2026',
  cdn_domain: 'cdn.example.com',
};

export const credentials = {
  access_key: sealedExample('the access key'),
  secret_key: sealedExample('the secret key'),
};

export const storageCreated = {
  type: 'StorageCreated',
  data: { project_id: projectId, ...configuration, credentials_version: 1, credentials },
} satisfies StorageEvent;
