import type { StorageDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { checkConfiguration, type StorageConfiguration } from '../domain/storage/configuration.js';
import { storageAggregate } from '../domain/storage/storage.js';
import type { StorageResource } from '../../../../projections/storages/storage-configs/reader.js';

export interface ChangeStorageInput {
  readonly projectId: string;
  readonly storageId: string;
  readonly changes: {
    readonly [Field in keyof Omit<StorageConfiguration, 'provider'>]?: string | undefined;
  };
}

/** A storage after a change. `isTested`: the change takes effect after a test (202). */
export interface StorageChange extends Versioned<StorageResource> {
  readonly isTested: boolean;
}

/**
 * Changes the given fields. A new connection of an active storage takes effect after a test, together with the other
 * given fields. All other changes apply at once (src/areas/storages/README.md#storage-changes).
 * @throws CommandRejected storage_not_found, invalid_request, storage_test_running; PreconditionFailed
 */
export type ChangeStorage = (
  input: ChangeStorageInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<StorageChange>;

export function makeChangeStorage({
  handler,
  storages,
  allowsHttp,
}: Pick<StorageDeps, 'handler' | 'storages'> & {
  /** See `makeAllowsHttp`. */
  readonly allowsHttp: (host: string) => boolean;
}): ChangeStorage {
  return async ({ projectId, storageId, changes }, context, options) => {
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const { events, documents } = await handler.handle(
      { aggregate: storageAggregate, id: storageId },
      {
        type: 'Change',
        projectId,
        change: (present) => checkConfiguration({ ...present, ...given }, allowsHttp, present),
        testId: derivedId(context, 'test'),
      },
      context,
      options,
    );
    const isTested = events.some(({ type }) => type === 'StorageTestStarted');
    return { ...(await storages.after(documents)), isTested };
  };
}
