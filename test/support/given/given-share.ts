import { assetAggregate } from '../../../src/domain/asset/asset.js';
import type { AssetDescription } from '../../../src/domain/asset/events.js';
import type { CreateStorage, CreateStorageInput } from '../../../src/commands/storages/create-storage.js';
import type { CreateShare, CreateShareInput } from '../../../src/commands/shares/create-share.js';
import { projectAggregate } from '../../../src/domain/project/project.js';
import type { Clock } from '../../../src/event-sourcing/ports/clock.js';
import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import type { ShareResource } from '../../../projections/shares/reader.js';
import { appendEvents } from './append-events.js';
import { userId } from '../examples/ids.js';
import { givenContext } from './given-stores.js';

export const sharePassword = 'open sesame';

export interface GivenAsset {
  readonly projectId: string;
  readonly storageId: string;
  readonly assetId: string;
}

/** An image with a thumbnail. */
export const sharedFile = {
  name: 'Rhine at dawn',
  object_key: '2026/rhine.png',
  media_type: 'image/png',
  size: 1_234,
  renditions: [
    { kind: 'thumbnail', object_key: '2026/rhine-small.jpg', media_type: 'image/jpeg', size: 2_048 },
  ],
} as const;

interface Service {
  readonly handler: CommandHandler;
  readonly clock: Pick<Clock, 'now'>;
  readonly commands: { readonly createStorage: CreateStorage; readonly createShare: CreateShare };
}

let commandsDrawn = 0;

/** Makes a context with a new command id. */
export function nextContext({ clock }: Pick<Service, 'clock'>): CommandContext {
  commandsDrawn += 1;
  return givenContext(500_000 + commandsDrawn, clock.now());
}

/** Makes a project with a storage and an asset in it. */
export async function givenAsset(
  service: Service,
  storage: Partial<Pick<CreateStorageInput, 'endpoint' | 'region'>> = {},
): Promise<GivenAsset> {
  const { handler, clock, commands } = service;
  const projectId = `019b7d00-0000-7000-8000-${String((commandsDrawn += 1)).padStart(12, '1')}`;
  await appendEvents(
    handler,
    { aggregate: projectAggregate, id: projectId },
    [
      { type: 'ProjectCreated', data: { name: 'Rivers', owner_id: userId } },
      { type: 'EntitlementGranted', data: { entitlement: 'allow_s3', source: 'operator' } },
    ],
    clock.now(),
  );
  const { resource } = await commands.createStorage(
    {
      projectId,
      ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1', ...storage },
      credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
    },
    nextContext(service),
  );
  const assetId = await addAsset(service, { projectId, storageId: resource.id });
  return { projectId, storageId: resource.id, assetId };
}

/** Adds an asset to a project that has a storage. @returns its id */
export async function addAsset(
  { handler, clock }: Pick<Service, 'handler' | 'clock'>,
  { projectId, storageId }: Pick<GivenAsset, 'projectId' | 'storageId'>,
  file: Omit<AssetDescription, 'project_id' | 'storage_id'> = {
    ...sharedFile,
    renditions: [...sharedFile.renditions],
  },
): Promise<string> {
  commandsDrawn += 1;
  const assetId = `019b7d00-0000-7000-8000-${String(commandsDrawn).padStart(12, '7')}`;
  const description = { ...file, project_id: projectId, storage_id: storageId };
  const target = { aggregate: assetAggregate, id: assetId };
  await handler.handle(target, { type: 'Add', description }, nextContext({ clock }));
  return assetId;
}

/** Makes a share of the asset; by default it never expires and its uses are unlimited. */
export async function givenShare(
  service: Service,
  { projectId, assetId }: Pick<GivenAsset, 'projectId' | 'assetId'>,
  terms: Partial<Pick<CreateShareInput, 'expiresAt' | 'maxUses' | 'allowDownload' | 'password'>> = {},
): Promise<ShareResource> {
  const { resource } = await service.commands.createShare(
    {
      ...{ projectId, assetId, password: sharePassword, createdBy: null },
      ...{ expiresAt: null, maxUses: null, allowDownload: true, ...terms },
    },
    nextContext(service),
  );
  return resource;
}
