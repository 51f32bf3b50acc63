import type { StorageDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { type CdnTokenScheme, checkCdnTokenKeys, type DeliveryMode } from '../domain/delivery/delivery.js';
import { invalid } from '../../../validation/invalid-request.js';
import { existingStorage, storageAggregate, type StoredCdnToken } from '../domain/storage/storage.js';
import type { StorageResource } from '../../../../projections/storages/storage-configs/reader.js';
import type { SealCredentials } from './replace-storage-credentials.js';

export interface CdnTokenInput {
  readonly scheme: CdnTokenScheme;
  readonly validSeconds: number;
  readonly keys: Readonly<Record<string, string>>;
}

/**
 * Changes how media URLs use the storage's domain. The keys of a token are sealed like credentials, in the same count of
 * versions.
 * @throws CommandRejected storage_not_found, invalid_request, storage_credentials_replaced; PreconditionFailed
 */
export type ChangeDelivery = (
  input: {
    readonly projectId: string;
    readonly storageId: string;
    readonly mode: DeliveryMode;
    /** Of the mode `token`, and of no other. */
    readonly token: CdnTokenInput | null;
  },
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<StorageResource>>;

export function makeChangeDelivery({
  handler,
  storages,
  sealCredentials,
}: Pick<StorageDeps, 'handler' | 'storages'> & {
  readonly sealCredentials: SealCredentials;
}): ChangeDelivery {
  return async ({ projectId, storageId, mode, token }, context, options) => {
    if ((mode === 'token') !== (token !== null))
      invalid(
        'token',
        'must be given for the mode token, and only then',
        token === null ? 'missing' : 'not_allowed',
      );
    const stored = token === null ? null : await storedToken(projectId, storageId, token);
    const target = { aggregate: storageAggregate, id: storageId };
    const command = { type: 'ChangeDelivery', projectId, mode, token: stored } as const;
    const { documents } = await handler.handle(target, command, context, options);
    return storages.after(documents);
  };

  async function storedToken(
    projectId: string,
    storageId: string,
    { scheme, validSeconds, keys }: CdnTokenInput,
  ): Promise<StoredCdnToken> {
    const clear = checkCdnTokenKeys(scheme, keys);
    const { state } = await handler.load(storageAggregate, storageId);
    const version = existingStorage(state, projectId).credentialsVersionMax + 1;
    const sealed = await sealCredentials({ projectId, storageId, version }, clear);
    return { scheme, validSeconds, credentials: { version, sealed } };
  }
}
