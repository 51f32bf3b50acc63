import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { bucketAddress } from '../domain/storage/bucket-address.js';
import { credentialKeys } from '../domain/storage/credentials.js';
import {
  type ExistingStorage,
  storageAggregate,
  type StorageCredentials,
} from '../domain/storage/storage.js';
import type { StorageUrls, DeliveryAddress } from '../integrations/object-storage/media-urls.js';
import type { StorageKeys } from '../integrations/object-storage/signer.js';
import { erased, type Sealer } from '../keys/sealer.js';

/** A storage whose credentials have been opened, to sign with. Not to be kept longer than a request or a test takes. */
export interface OpenedStorage {
  readonly storage: ExistingStorage;
  readonly urls: StorageUrls;
}

export interface OpenStorage {
  /** Null when it does not exist any more. @throws StoreUnavailable; what `Sealer.open` throws */
  serving(storageId: string): Promise<OpenedStorage | null>;
  /** The one that the test is of: with the candidate's values in place of the present ones. Null when it is over. */
  tested(storageId: string, testId: string): Promise<OpenedStorage | null>;
}

export function makeOpenStorage({
  handler,
  sealer,
  makeUrls,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly makeUrls: (address: DeliveryAddress, keys: StorageKeys) => StorageUrls;
}): OpenStorage {
  return {
    serving: async (storageId) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') return null;
      return open(storageId, state, state.credentials);
    },
    tested: async (storageId, testId) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') return null;
      if (state.test?.testId !== testId) return null;
      const { candidate } = state.test;
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
