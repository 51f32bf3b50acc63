import { assetAggregate, existingAsset } from '../../../src/areas/assets/domain/asset/asset.js';
import type { AssetFacts } from '../../../src/areas/assets/domain/asset/changes.js';
import type {
  CreateStorage,
  CreateStorageInput,
} from '../../../src/areas/storages/commands/create-storage.js';
import type { ShareCommands } from '../../../src/areas/shares/commands/index.js';
import type { CreateShareInput } from '../../../src/areas/shares/commands/sharing.js';
import { projectAggregate } from '../../../src/areas/projects/domain/project/project.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import type { ShareResource } from '../../../projections/shares/shares/resource.js';
import { appendEvents } from './append-events.js';
import { userId } from '../examples/ids.js';
import { freeTerms } from '../examples/share.js';
import { givenContext } from './given-stores.js';

export const sharePassword = 'open sesame';

interface GivenAsset {
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
  readonly commands: {
    /** The command of the service, or that of tests: see `givenCommands`. */
    readonly createStorage: (
      input: CreateStorageInput & { readonly projectId: string },
      context: CommandContext,
    ) => ReturnType<CreateStorage>;
  } & Pick<ShareCommands, 'createShare'>;
}

const newProject = { entitlements: { allow_s3: true }, defaultStorageId: null };
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
      ...{ projectId, project: { id: projectId, ...newProject } },
      ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1', ...storage },
      credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
    },
    nextContext(service),
  );
  const assetId = await addAsset(service, { projectId, storageId: resource.id });
  return { projectId, storageId: resource.id, assetId };
}

/** Adds an asset whose upload is complete to a project that has a storage. @returns its id */
export async function addAsset(
  { handler, clock }: Pick<Service, 'handler' | 'clock'>,
  { projectId, storageId }: Pick<GivenAsset, 'projectId' | 'storageId'>,
  file: AssetFacts & { readonly object_key: string } = sharedFile,
): Promise<string> {
  commandsDrawn += 1;
  // Later ids sort later, as those of the service do.
  const assetId = `019b7d00-0000-7000-8000-77${String(commandsDrawn).padStart(10, '0')}`;
  const description = {
    ...{ ...file, project_id: projectId, storage_id: storageId, tags: [...(file.tags ?? [])] },
    renditions: file.renditions.map(({ language = null, ...one }) => ({ ...one, language })),
  };
  const target = { aggregate: assetAggregate, id: assetId };
  await handler.handle(target, { type: 'Add', description }, nextContext({ clock }));
  await completeUpload({ handler, clock }, { projectId, assetId });
  return assetId;
}

/** Records that the bucket holds the file of the asset as it is described. */
export async function completeUpload(
  { handler, clock }: Pick<Service, 'handler' | 'clock'>,
  { projectId, assetId }: Pick<GivenAsset, 'projectId' | 'assetId'>,
): Promise<void> {
  const { state } = await handler.load(assetAggregate, assetId);
  const { size, media_type } = existingAsset(state, projectId);
  const seen = { size, media_type, entity_tag: 'a-tag', sha256: null };
  const record = { type: 'RecordAnswer', projectId, seen, sha256: null } as const;
  await handler.handle({ aggregate: assetAggregate, id: assetId }, record, nextContext({ clock }));
}

/** Makes a share of the asset; by default it never expires and its uses are unlimited. */
export async function givenShare(
  service: Service,
  { projectId, assetId }: Pick<GivenAsset, 'projectId' | 'assetId'>,
  terms: Partial<Omit<CreateShareInput, 'projectId' | 'created_by'>> = {},
): Promise<ShareResource> {
  const { resource } = await service.commands.createShare(
    {
      ...{
        projectId,
        asset_ids: [assetId],
        password: sharePassword,
        tag: null,
        created_by: null,
        ...freeTerms,
        ...terms,
      },
    },
    nextContext(service),
  );
  return resource;
}
