import type { StorageDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import { checkCredentials } from '../domain/bucket/credentials.js';
import { existingStorage, storageAggregate } from '../domain/storage/storage.js';
import type { StorageChange } from './change-storage.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { KeyDestroyed } from '../../../keys/sealing/errors.js';

/**
 * Seals one version of a storage's credentials under a separate data key, each value under its name.
 * @throws CommandRejected storage_not_found once the storage is deleted; StoreUnavailable
 */
export type SealCredentials = (
  whose: { readonly projectId: string; readonly storageId: string; readonly version: number },
  clear: ReadonlyMap<string, string>,
) => Promise<Readonly<Record<string, Sealed>>>;

export function makeSealCredentials({ sealer }: Pick<StorageDeps, 'sealer'>): SealCredentials {
  return async (whose, clear) => {
    const sealed: Record<string, Sealed> = {};
    try {
      for (const [name, value] of clear) {
        sealed[name] = await sealer.seal({ kind: 'storage-credentials', ...whose }, name, value);
      }
    } catch (error) {
      if (!(error instanceof KeyDestroyed)) throw error;
      return rejectStorage('storage_not_found', 'there is no such storage any more');
    }
    return sealed;
  };
}

export interface ReplaceStorageCredentialsInput {
  readonly projectId: string;
  readonly storageId: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/**
 * Replaces a storage's credentials. An active storage uses the old ones until the new ones pass a test.
 * @throws CommandRejected storage_not_found, invalid_request, storage_test_running, storage_credentials_replaced;
 * PreconditionFailed
 */
export type ReplaceStorageCredentials = (
  input: ReplaceStorageCredentialsInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<StorageChange>;

export function makeReplaceStorageCredentials({
  handler,
  sealCredentials,
  storages,
}: Pick<StorageDeps, 'handler' | 'storages'> & {
  readonly sealCredentials: SealCredentials;
}): ReplaceStorageCredentials {
  return async ({ projectId, storageId, credentials }, context, options) => {
    const { state } = await handler.load(storageAggregate, storageId);
    const { configuration, credentialsVersionMax } = existingStorage(state, projectId);
    const clear = checkCredentials(configuration.provider, credentials);
    const version = credentialsVersionMax + 1;
    const sealed = await sealCredentials({ projectId, storageId, version }, clear);
    const { events, documents } = await handler.handle(
      { aggregate: storageAggregate, id: storageId },
      {
        type: 'ReplaceCredentials',
        projectId,
        credentials: { version, sealed },
        testId: derivedId(context, 'test'),
      },
      context,
      options,
    );
    const isTested = events.some(({ type }) => type === 'StorageTestStarted');
    return { ...(await storages.after(documents)), isTested };
  };
}
