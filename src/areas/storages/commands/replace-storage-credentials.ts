import type { StorageDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import { checkCredentials } from '../domain/bucket/credentials.js';
import { existingStorage, storageAggregate } from '../domain/storage/storage.js';
import type { StorageChange } from './change-storage.js';
import type { SealCredentials } from './seal-credentials.js';

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
