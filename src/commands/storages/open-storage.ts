import type { Deps } from '../deps.js';
import { bucketAddress } from '../../domain/storage/bucket-address.js';
import { credentialKeys } from '../../domain/storage/credentials.js';
import {
  type ExistingStorage,
  storageAggregate,
  type StorageCredentials,
} from '../../domain/storage/storage.js';
import type { StorageUrls } from '../../integrations/object-storage/media-urls.js';
import { erased } from '../../keys/sealer.js';

/** A storage with opened credentials, which sign. Do not keep it longer than one request or one test. */
export interface OpenedStorage {
  readonly storage: ExistingStorage;
  readonly urls: StorageUrls;
}

export interface OpenStorage {
  /** Opens a storage; null when it does not exist. @throws StoreUnavailable; the errors of `Sealer.open` */
  serving(storageId: string): Promise<OpenedStorage | null>;
  /** Opens a storage with the values of the candidate that the test is of; null when the test is over. */
  tested(storageId: string, testId: string): Promise<OpenedStorage | null>;
}

export function makeOpenStorage({
  handler,
  sealer,
  makeUrls,
}: Pick<Deps, 'handler' | 'sealer' | 'makeUrls'>): OpenStorage {
  return {
    serving: async (storageId) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') return null;
      return open(storageId, state, state.credentials);
    },
    tested: async (storageId, testId) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') return null;
      if (state.test?.id !== testId) return null;
      const { candidate } = state;
      if (candidate === null) return open(storageId, state, state.credentials);
      const { credentials, ...values } = candidate;
      const configuration = { ...state.configuration, ...values };
      return open(storageId, { ...state, configuration }, credentials ?? state.credentials);
    },
  };

  async function open(
    storageId: string,
    storage: ExistingStorage,
    credentials: StorageCredentials,
  ): Promise<OpenedStorage | null> {
    const { projectId, configuration, delivery } = storage;
    const { version, sealed } = credentials;
    const scope = { kind: 'storage-credentials', projectId, storageId, version } as const;
    const opened: string[] = [];
    for (const name of credentialKeys[configuration.provider]) {
      const value = sealed[name];
      if (value === undefined) throw new Error(`a ${configuration.provider} storage has no ${name}`);
      const text = await sealer.open(scope, name, value);
      if (text === erased) return null;
      opened.push(text);
    }
    const [id = '', secret = ''] = opened;
    const address = { ...bucketAddress(configuration), cdnDomain: configuration.cdn_domain, mode: delivery };
    return { storage, urls: makeUrls(address, { id, secret }) };
  }
}
