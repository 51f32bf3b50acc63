import type { StorageReader } from '../../../projections/storages/storage-configs/reader.js';
import type { SetBucketCors } from './bucket/probing/bucket-cors.js';
import type { ProbeBucket } from './bucket/probing/probe.js';
import type { DeleteObject } from './bucket/objects/call-bucket.js';
import type { HeadObject, ReadObject } from './bucket/objects/head-object.js';
import type { ListObjects } from './bucket/objects/list-objects.js';
import type { Multipart } from './bucket/objects/multipart.js';
import type { OpenStorage } from './commands/open-storage.js';
import type { ProjectDeps } from '../projects/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface StorageDeps extends ProjectDeps {
  readonly storages: StorageReader;
  readonly openStorage: OpenStorage;
  readonly probe: ProbeBucket;
  readonly setBucketCors: SetBucketCors;
  /** Address ranges that an endpoint may name over plain http. */
  readonly storageAllowedCidrs: readonly string[];
  readonly headObject: HeadObject;
  readonly deleteObject: DeleteObject;
  readonly listObjects: ListObjects;
  readonly readObject: ReadObject;
  readonly multipart: Multipart;
}
