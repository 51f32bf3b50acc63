import {
  type LogEvent,
  parseStreamName,
  type Sealed,
} from '../../../../src/event-sourcing/ports/domain-event.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { userId } from '../../examples/ids.js';
import type { givenCommands } from '../../given/given-commands.js';
import { freeTerms } from '../../examples/share.js';
import { sharedFile } from '../../given/given-share.js';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { shareCodec } from '../../../../src/areas/shares/domain/share/events.js';
import { storageAggregate } from '../../../../src/areas/storages/domain/storage/storage.js';
import { storageCodec } from '../../../../src/areas/storages/domain/storage/events.js';
import { erased, type KeyScope } from '../../../../src/keys/sealing/sealer.js';
import type { GivenStores } from '../../given/given-stores.js';

const credentials = { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' };

/**
 * Makes the calls of people on projects, storages, assets and shares. Each call may be refused.
 * @param here returns the use cases of the process that handles the call
 * @param next returns the context of a new command
 * @param some returns an event of the type whose resource exists
 */
export function makeDoings({
  here,
  next,
  some,
}: {
  readonly here: () => ReturnType<typeof givenCommands>;
  readonly next: () => CommandContext;
  readonly some: (type: string) => Promise<LogEvent>;
}) {
  return {
    ...{ begin, createStorage, createShare, changeShare, replaceCredentials },
    ...{ removeAsset, revokeShare, deleteStorage, deleteProject },
  };

  /** Creates a project with a storage and an asset, because deletions of existing resources test more. */
  async function begin(): Promise<void> {
    await createProject();
    await createStorage();
    await addAsset();
  }

  async function createProject(): Promise<void> {
    const world = here();
    const { resource } = await world.createProject({ ownerId: userId, name: 'P' }, next());
    const grant = { projectId: resource.id, entitlement: 'allow_s3', source: 'operator' } as const;
    await world.grantEntitlement(grant, next());
  }

  async function createStorage(): Promise<void> {
    const projectId = idOf(await some('ProjectCreated'));
    const input = { projectId, name: 'S', provider: 's3', bucket: 'rushes', region: 'eu-central-1' } as const;
    await here().createStorage({ ...input, credentials }, next());
  }

  async function replaceCredentials(): Promise<void> {
    const storage = await some('StorageCreated');
    const storageId = idOf(storage);
    const input = { projectId: textIn(storage, 'project_id'), storageId, credentials };
    await here().replaceStorageCredentials(input, next());
  }

  async function addAsset(): Promise<void> {
    const storage = await some('StorageCreated');
    const place = { projectId: textIn(storage, 'project_id'), storageId: idOf(storage) };
    await here().addAsset({ ...place, ...sharedFile, renditions: [] }, next());
  }

  async function createShare(): Promise<void> {
    const [one, other] = [await some('AssetAdded'), await some('AssetAdded')];
    const projectId = textIn(one, 'project_id');
    const ids = new Set([idOf(one), ...(textIn(other, 'project_id') === projectId ? [idOf(other)] : [])]);
    const of = { projectId, asset_ids: [...ids], tag: null, created_by: null };
    await here().createShare({ ...of, ...freeTerms, password: 'open sesame' }, next());
  }

  async function changeShare(): Promise<void> {
    await here().changeShare({ ...(await someShare()), changes: { password: 'sesame, open' } }, next());
  }

  async function revokeShare(): Promise<void> {
    await here().revokeShare(await someShare(), next());
  }

  async function removeAsset(): Promise<void> {
    const asset = await some('AssetAdded');
    const address = { projectId: textIn(asset, 'project_id'), assetId: idOf(asset) };
    await here().removeAsset(address, next());
  }

  async function deleteStorage(): Promise<void> {
    const storage = await some('StorageCreated');
    const address = { projectId: textIn(storage, 'project_id'), storageId: idOf(storage) };
    await here().deleteStorage(address, next());
  }

  async function deleteProject(): Promise<void> {
    await here().deleteProject({ projectId: idOf(await some('ProjectCreated')) }, next());
  }

  async function someShare(): Promise<{ readonly projectId: string; readonly shareId: string }> {
    const share = await some('ShareCreated');
    return { projectId: textIn(share, 'project_id'), shareId: idOf(share) };
  }
}

export function idOf({ stream }: LogEvent): string {
  return parseStreamName(stream)?.id ?? '';
}

export function textIn(event: LogEvent, name: string): string {
  const value = event.data[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Checks invariants of storages and shares once no reaction is due, from the log alone.
 * Returns a violation, or null.
 * A storage ends with its project, and a share with its project and asset. The service deletes nothing else by itself.
 * Sealed values open exactly as long as their storage or share exists.
 */
export async function deletionProblem(
  log: readonly LogEvent[],
  { handler, sealer }: Pick<GivenStores, 'handler' | 'sealer'>,
): Promise<string | null> {
  for (const stored of log) {
    const { category, id } = parseStreamName(stored.stream) ?? { category: '', id: '' };
    const problem =
      category === storageAggregate.category
        ? await storageProblem(id, stored)
        : category === shareAggregate.category
          ? await shareProblem(id, stored)
          : null;
    if (problem !== null) return problem;
  }
  return null;

  async function storageProblem(storageId: string, stored: LogEvent): Promise<string | null> {
    const { state } = await handler.load(storageAggregate, storageId);
    if (state.status === 'absent') return null;
    const { projectId } = state;
    const isDeleted = state.status === 'deleted';
    const isOrphan = await isProjectDeleted(projectId);
    if (isOrphan && !isDeleted) return `the storage ${storageId} has outlived its project`;
    const event = storageCodec.decode(stored);
    if (event.type === 'StorageDeleted') {
      return bySystem(stored) && !isOrphan ? `the storage ${storageId} was deleted without a reason` : null;
    }
    const [version, sealed] =
      event.type === 'StorageCreated'
        ? [event.data.credentials_version, event.data.credentials]
        : event.type === 'StorageCredentialsReplaced'
          ? [event.data.credentials.version, event.data.credentials.sealed]
          : [0, {}];
    const scope = { kind: 'storage-credentials', projectId, storageId, version } as const;
    return sealedProblem(scope, sealed, isDeleted);
  }

  async function shareProblem(shareId: string, stored: LogEvent): Promise<string | null> {
    const [created] = log.filter(({ stream }) => stream === stored.stream);
    const first = created === undefined ? null : shareCodec.decode(created);
    if (first?.type !== 'ShareCreated') return `the share ${shareId} was never created`;
    const { project_id: projectId, asset_ids } = first.data;
    const { state: share } = await handler.load(shareAggregate, shareId);
    const assets = await Promise.all(asset_ids.map((id) => handler.load(assetAggregate, id)));
    const hasAsset = assets.some(({ state }) => state.status !== 'removed');
    const isOrphan = !hasAsset || (await isProjectDeleted(projectId));
    if (isOrphan && share.status === 'open') return `the share ${shareId} has outlived its project or asset`;
    const event = shareCodec.decode(stored);
    if (event.type === 'ShareRevoked') {
      return bySystem(stored) && !isOrphan ? `the share ${shareId} was revoked without a reason` : null;
    }
    const { token, password_hash } = { ...first.data, ...event.data };
    if (password_hash === null) return `the share ${shareId} has lost its password`;
    return sealedProblem(
      { kind: 'share', projectId, shareId },
      { token, password_hash },
      share.status === 'revoked',
    );
  }

  async function isProjectDeleted(projectId: string): Promise<boolean> {
    return (await handler.load(projectAggregate, projectId)).state.status === 'deleted';
  }

  async function sealedProblem(
    scope: KeyScope,
    values: Readonly<Record<string, Sealed>>,
    isGone: boolean,
  ): Promise<string | null> {
    for (const [field, sealed] of Object.entries(values)) {
      const opens = (await sealer.open(scope, field, sealed)) !== erased;
      if (opens === isGone) return `a ${scope.kind} that ${isGone ? 'is gone' : 'exists'}: ${field} ${opens}`;
    }
    return null;
  }
}

function bySystem({ metadata }: LogEvent): boolean {
  return metadata.actor.startsWith('system:');
}
