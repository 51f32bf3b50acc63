import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import { checkCredentials } from '../domain/storage/credentials.js';
import { storageAggregate } from '../domain/storage/storage.js';
import type { StorageReader } from '../../projections/storage-configs/reader.js';
import type { StorageChange } from './change-storage.js';
import type { SealCredentials } from './seal-credentials.js';
import type { StorageOwnership } from './storage-ownership.js';

export interface ReplaceStorageCredentialsInput {
  readonly projectId: string;
  readonly storageId: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/**
 * Replaces a storage's credentials; those of an active storage serve until the new ones have passed a test.
 * @throws CommandRejected storage_not_found, invalid_request, storage_test_running, storage_credentials_replaced; PreconditionFailed
 */
export type ReplaceStorageCredentials = (
  input: ReplaceStorageCredentialsInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<StorageChange>;

export function makeReplaceStorageCredentials({
  handler,
  ownership,
  sealCredentials,
  storages,
}: {
  readonly handler: CommandHandler;
  readonly ownership: StorageOwnership;
  readonly sealCredentials: SealCredentials;
  readonly storages: Pick<StorageReader, 'after'>;
}): ReplaceStorageCredentials {
  return async ({ projectId, storageId, credentials }, context, options) => {
    const { configuration, credentialsVersionMax } = await ownership.require(projectId, storageId);
    const clear = checkCredentials(configuration.provider, credentials);
    const version = credentialsVersionMax + 1;
    const sealed = await sealCredentials({ projectId, storageId, version }, clear);
    const { events, documents } = await handler.handle(
      { aggregate: storageAggregate, id: storageId },
      {
        type: 'ReplaceCredentials',
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
