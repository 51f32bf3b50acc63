import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import { storageCodec, type StorageEvent } from '../../src/domain/storage/events.js';
import { storageCategory } from '../../src/domain/storage/stream.js';

/** All of a storage but its credentials, which stay in the log, and `is_default`, which is a fact of the project. */
export type StorageDocument = {
  readonly project_id: string;
  readonly name: string;
  readonly provider: 'oss' | 'cos' | 's3';
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly base_path: string;
  readonly cdn_domain: string;
  readonly status: 'pending' | 'testing' | 'active' | 'failed' | 'disabled';
  readonly last_test_at: string | null;
  readonly last_error: string;
  readonly has_credentials: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(_document: StorageDocument | null, event: Recorded<StorageEvent>): StorageDocument | null {
  const { project_id, name, provider, endpoint, bucket, region, base_path, cdn_domain } = event.data;
  return {
    project_id,
    name,
    provider,
    endpoint,
    bucket,
    region,
    base_path,
    cdn_domain,
    status: 'pending',
    last_test_at: null,
    last_error: '',
    has_credentials: Object.keys(event.data.credentials).length > 0,
    created_at: event.time,
    updated_at: event.time,
  };
}

export const storageConfigsProjection: Projection<StorageDocument, StorageEvent> = {
  name: 'storage_configs',
  version: 1,
  category: storageCategory,
  codec: storageCodec,
  indexes: ['project_id'],
  evolve,
};
