import { type LogEvent, parseStreamName } from '../../../../src/event-sourcing/ports/domain-event.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { userId } from '../../examples/ids.js';
import type { givenCommands } from '../../given/given-commands.js';
import { freeTerms } from '../../examples/share.js';
import { sharedFile } from '../../given/given-share.js';

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
