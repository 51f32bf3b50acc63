import type { StorageDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { loadOfNew, derivedId } from '../../../event-sourcing/deciding/command-handler.js';
import type { ProjectAccess } from '../../../../projections/projects/projects/reader.js';
import {
  checkConfiguration,
  firstCredentialsVersion,
  storageAggregate,
  storagesMax,
} from '../domain/storage/storage.js';
import { checkBucket, type StorageProvider, parseOrigin } from '../domain/bucket/bucket.js';
import { checkCdnDomain } from '../domain/delivery/delivery.js';
import { checkCredential, checkCredentials } from '../domain/bucket/connection.js';
import { checkName } from '../../../validation/text.js';
import { checkEach } from '../../../validation/field-problems.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import { RemovedSince } from '../../../event-sourcing/ports/errors.js';
import { KeyDestroyed } from '../../../keys/sealing/errors.js';
import { type CountLimit, makeCountLimit } from '../../shared/count-limit.js';

/** Limits the storages of a project. `adding` throws CommandRejected storage_limit_reached. */
export function makeStorageLimit({ handler, storages, viewLags }: StorageDeps): CountLimit {
  return makeCountLimit({
    max: storagesMax,
    inView: (projectId, limit) => storages.ids(projectId, { limit }),
    counts: async (storageId) => {
      const { status } = (await handler.load(storageAggregate, storageId)).state;
      return status !== 'absent' && status !== 'deleted';
    },
    refuse: () => rejectStorage('storage_limit_reached', `a project has at most ${storagesMax} storages`),
    requireFresh: () => viewLags.requireFresh('storage_configs'),
  });
}

/**
 * Seals one version of a storage's credentials under a separate data key, each value under its name.
 * @throws CommandRejected storage_not_found once the storage is deleted, RemovedSince for its first version; StoreUnavailable
 */
export type SealCredentials = ReturnType<typeof makeSealCredentials>;

export function makeSealCredentials({ sealer }: StorageDeps) {
  return async (
    whose: { readonly projectId: string; readonly storageId: string; readonly version: number },
    clear: ReadonlyMap<string, string>,
  ) => {
    const sealed: Record<string, Sealed> = {};
    try {
      for (const [name, value] of clear) {
        sealed[name] = await sealer.seal({ kind: 'storage-credentials', ...whose }, name, value);
      }
    } catch (error) {
      if (!(error instanceof KeyDestroyed)) throw error;
      // Only a creation seals the first version.
      if (whose.version === firstCredentialsVersion) throw new RemovedSince();
      return rejectStorage('storage_not_found', 'there is no such storage any more');
    }
    return sealed;
  };
}

/** A storage creation request (docs/api.md#22-storage-creation-request) and its project. */
export interface CreateStorageInput {
  /** As the gate of the request has read it. */
  readonly project: Pick<ProjectAccess, 'id' | 'entitlements' | 'defaultStorageId'>;
  readonly name: string;
  readonly provider: StorageProvider;
  readonly bucket: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly endpoint?: string | undefined;
  readonly public_endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly base_path?: string | undefined;
  readonly cdn_domain?: string | undefined;
}

/**
 * Adds a storage to a project (docs/api.md#41-post-apiv1projectsprojectidstorages).
 * @throws CommandRejected entitlement_required, invalid_request, storage_limit_reached; RemovedSince where a
 * repeated command finds its storage deleted
 */
export type CreateStorage = ReturnType<typeof makeCreateStorage>;

/** Checks what needs no store, and returns it normalised. @throws CommandRejected invalid_request */
export function makeCheckNewStorage({ allowsHttp }: { readonly allowsHttp: (host: string) => boolean }) {
  return (input: Omit<CreateStorageInput, 'project'>) =>
    checkEach({
      configuration: () =>
        checkConfiguration(
          {
            name: input.name,
            provider: input.provider,
            endpoint: input.endpoint ?? '',
            public_endpoint: input.public_endpoint ?? '',
            bucket: input.bucket,
            region: input.region ?? '',
            base_path: input.base_path ?? '',
            cdn_domain: input.cdn_domain ?? '',
          },
          allowsHttp,
        ),
      clear: () => checkCredentials(input.provider, input.credentials),
    });
}

/** The rules of single fields, which name no field. @throws CommandRejected invalid_request */
export const storageRules = {
  name: (text: string) => checkName(text, ''),
  endpoint: (text: string) => (text === '' ? null : parseOrigin(text, '')),
  cdnDomain: (text: string) => checkCdnDomain(text, ''),
  credential: (text: string) => checkCredential(text, ''),
  bucket: (provider: StorageProvider, text: unknown) =>
    typeof text === 'string' ? checkBucket(provider, text) : null,
} as const;

export function makeCreateStorage(
  deps: StorageDeps & {
    readonly sealCredentials: SealCredentials;
    readonly limit: CountLimit;
    /** See `makeAllowsHttp`. */
    readonly allowsHttp: (host: string) => boolean;
  },
) {
  const { handler, sealCredentials, limit, storages, allowsHttp } = deps;
  const checkNewStorage = makeCheckNewStorage({ allowsHttp });
  return async (input: CreateStorageInput, context: CommandContext) => {
    const { project, ...request } = input;
    const { id: projectId } = project;
    if (!project.entitlements.allow_s3)
      rejectStorage('entitlement_required', 'the project lacks the entitlement allow_s3');
    const { configuration, clear } = checkNewStorage(request);
    const storageId = derivedId(context, 'storage');
    const version = firstCredentialsVersion;
    // The credentials are sealed within the limit: a full project leaves no data key.
    const { documents } = await limit.adding(projectId, storageId, async () => {
      const sealed = await sealCredentials({ projectId, storageId, version }, clear);
      const credentials = { version, sealed };
      const command = { type: 'Create', projectId, configuration, credentials } as const;
      return handler.handle(storageAggregate.at(storageId), command, context, loadOfNew(context));
    });
    return storages.after(documents, project);
  };
}
