import { beginning, type CommandContext, type CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import { rejectProject } from '../domain/project/rejections.js';
import { checkConfiguration } from '../domain/storage/configuration.js';
import { checkCredentials } from '../domain/storage/credentials.js';
import type { StorageProvider } from '../domain/storage/provider.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { firstCredentialsVersion, storageAggregate } from '../domain/storage/storage.js';
import type { ProjectReader } from '../../projections/projects/reader.js';
import type { StorageReader, StorageResource } from '../../projections/storage-configs/reader.js';
import type { SealCredentials } from './seal-credentials.js';
import type { Places } from './places.js';

/** The storage creation request of the API document, 2.2, and where it goes. */
export interface CreateStorageInput {
  readonly projectId: string;
  readonly name: string;
  readonly provider: StorageProvider;
  readonly bucket: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly base_path?: string | undefined;
  readonly cdn_domain?: string | undefined;
}

/**
 * Binds a storage to a project (API document 4.1).
 * @throws CommandRejected project_not_found, entitlement_required, invalid_request, storage_limit_reached; storage_not_found
 * where the command is repeated and what it created has been deleted since
 */
export type CreateStorage = (
  input: CreateStorageInput,
  context: CommandContext,
) => Promise<Versioned<StorageResource>>;

export function makeCreateStorage({
  handler,
  sealCredentials,
  projects,
  places,
  storages,
  allowsHttp,
}: {
  readonly handler: CommandHandler;
  readonly sealCredentials: SealCredentials;
  readonly projects: Pick<ProjectReader, 'access'>;
  readonly places: Places;
  readonly storages: Pick<StorageReader, 'after'>;
  /** See `makeAllowedAddresses`. */
  readonly allowsHttp: (address: string) => boolean;
}): CreateStorage {
  return async (input, context) => {
    const { projectId, provider } = input;
    await requireEntitlement(projectId);
    const configuration = checkConfiguration(
      {
        name: input.name,
        provider,
        endpoint: input.endpoint ?? '',
        bucket: input.bucket,
        region: input.region ?? '',
        base_path: input.base_path ?? '',
        cdn_domain: input.cdn_domain ?? '',
      },
      allowsHttp,
    );
    const clear = checkCredentials(provider, input.credentials);
    const storageId = derivedId(context, 'storage');
    await places.check(projectId, storageId);
    const version = firstCredentialsVersion;
    // Two durable writes, side by side: before the append both are there, and either is harmless without it.
    const [sealed] = await Promise.all([
      sealCredentials({ projectId, storageId, version }, clear),
      places.take(projectId, storageId),
    ]);
    const { documents } = await handler.handle(
      { aggregate: storageAggregate, id: storageId },
      {
        type: 'Create',
        projectId,
        configuration,
        credentials: { version, sealed },
      },
      context,
      beginning(context),
    );
    return storages.after(documents);
  };

  async function requireEntitlement(projectId: string): Promise<void> {
    const project = await projects.access(projectId);
    if (project === null) return rejectProject('project_not_found', 'there is no such project');
    if (!project.entitlements.allow_s3) {
      rejectStorage('entitlement_required', 'the project lacks the entitlement allow_s3');
    }
  }
}
