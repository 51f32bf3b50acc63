import { type HandleOptions, requireRevision } from '../../../../event-sourcing/deciding/command-handler.js';
import type { StorageDeps } from '../../deps.js';
import { describeCorsRefusal } from '../../domain/delivery/cors-failure.js';
import { corsRuleFields } from '../../domain/delivery/cors-rule.js';
import { rejectStorage } from '../../domain/storage/rejections.js';
import { existingStorage, storageAggregate } from '../../domain/storage/storage.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import type { StorageResource } from '../../../../../projections/storages/storage-configs/reader.js';
import type { OpenStorage } from '../open-storage.js';

/**
 * Sets the CORS rule for the pages of the service at the bucket, beside the rules that are there, and records it. A
 * repetition finds the rule and changes nothing (src/areas/storages/README.md#browsers).
 * @throws CommandRejected storage_not_found, storage_disabled, storage_cors_refused; PreconditionFailed
 */
export type SetStorageCors = (
  input: { readonly projectId: string; readonly storageId: string },
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<StorageResource>>;

/** The time in ms for all requests to the bucket, within the 15 s of a request to this service. */
const timeMs = 10_000;

export function makeSetStorageCors({
  handler,
  openStorage,
  setBucketCors,
  browserOrigins: origins,
  storages,
}: Pick<StorageDeps, 'handler' | 'setBucketCors' | 'browserOrigins' | 'storages'> & {
  readonly openStorage: OpenStorage;
}): SetStorageCors {
  return async ({ projectId, storageId }, context, options) => {
    const target = { aggregate: storageAggregate, id: storageId };
    const { state, revision } = await handler.load(storageAggregate, storageId);
    if (existingStorage(state, projectId).status === 'disabled') {
      rejectStorage('storage_disabled', 'the storage is disabled; enable it first');
    }
    requireRevision(options?.expectedRevision, revision);
    const opened = await openStorage.serving(storageId);
    if (opened === null) return rejectStorage('storage_not_found', 'the storage does not exist');
    const asked = { urls: opened.urls, origins, ruleFor: corsRuleFields };
    const result = await setBucketCors(asked, AbortSignal.timeout(timeMs));
    if ('failure' in result) {
      return rejectStorage('storage_cors_refused', describeCorsRefusal(result.failure));
    }
    const command = { type: 'RecordCors', projectId, origins, ...result } as const;
    const { documents } = await handler.handle(target, command, context, options);
    return storages.after(documents);
  };
}
