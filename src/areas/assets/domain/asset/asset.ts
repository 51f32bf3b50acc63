import {
  decideBy,
  defineAggregate,
  narrowed,
  type Evolving,
} from '../../../../event-sourcing/deciding/command-handler.js';
import {
  type AssetDescription,
  type AssetEvent,
  type ExpectedUpload,
  type Rendition,
  assetEvents,
} from './events.js';
import { type AssetChanges, changeAsset, putRendition, removeRendition } from './changes.js';
import {
  applyChange,
  applyUpload,
  type AssetUploadEvent,
  bytesOfAsset,
  isDeletionEvent,
  isMultipartEvent,
  isUploadEvent,
  keysOfAsset,
  newUpload,
  type SeenObject,
  type UploadFields,
} from './fold.js';
import { applyDeletion, type DeletionAttempt, type PendingDeletion, recordAttempt } from './deletion.js';
import { assetNotFound } from './rejections.js';
import { applyMultipart, decideMultipart, type MultipartCommand, type OpenMultipart } from './multipart.js';
import { checkAfter, eventOfAnswer } from './upload.js';

export type AssetState = { readonly status: 'absent' } | ExistingAsset | RemovedAsset;

interface RemovedAsset {
  readonly status: 'removed';
  /** The upload in parts that the bucket still holds open. */
  readonly multipart: OpenMultipart | null;
  /** The objects that the service still has to delete; null where it has none to delete. */
  readonly deletion: PendingDeletion | null;
}

export type ExistingAsset = {
  readonly status: 'existing';
  /** The check that the service owes; null where it owes none. */
  readonly expected: ExpectedUpload | null;
  /** The last commands that changed the description. They have ended: src/areas/assets/README.md#capacity, src/areas/assets/README.md#object-keys. */
  readonly lastCommands: readonly string[];
  /** The upload in parts that is open; null where none is. */
  readonly multipart: OpenMultipart | null;
} & AssetDescription &
  UploadFields;

/** `projectId` is the project of the caller. */
export type AssetCommand =
  | {
      readonly type: 'Add';
      readonly description: AssetDescription;
      /** The object, where the bucket has listed it; null or left out: it comes later. */
      readonly seen?: SeenObject | null;
    }
  | ChangeAsset
  | { readonly type: 'PutRendition'; readonly projectId: string; readonly rendition: Rendition }
  | {
      readonly type: 'RemoveRendition';
      readonly projectId: string;
      readonly kind: string;
      readonly language: string | null;
    }
  | {
      readonly type: 'Remove';
      readonly projectId: string;
      /** Where the objects to delete are; null or left out: they stay. */
      readonly deleteFrom?: DeletedFrom | null;
    }
  | (DeletionAttempt & { readonly type: 'RecordDeletion'; readonly attempt: number; readonly now: Date })
  /** An upload URL is issued. */
  | { readonly type: 'ExpectUpload'; readonly projectId: string; readonly now: Date }
  | RecordAnswer
  | MultipartCommand
  /** The check of that time ended. A bucket that did not answer has no `answer`. */
  | {
      readonly type: 'EndCheck';
      readonly check_at: string;
      readonly answer: Pick<RecordAnswer, 'seen'> | null;
      readonly now: Date;
    };

/** Fields that are left out stay as they are. */
interface ChangeAsset {
  readonly type: 'Change';
  readonly projectId: string;
  readonly changes: AssetChanges;
}

/** The bucket answered. */
interface RecordAnswer {
  readonly type: 'RecordAnswer';
  readonly projectId: string;
  /** Null: it holds no object. */
  readonly seen: SeenObject | null;
  /** The digest that the client computed; null where it gave none. */
  readonly sha256: string | null;
}

/** Where the configuration of a storage leads. */
type DeletedFrom = Pick<PendingDeletion, 'endpoint' | 'bucket' | 'region' | 'base_path'>;

const initialState: AssetState = { status: 'absent' };

function evolve(state: AssetState, event: Evolving<AssetEvent>): AssetState {
  if (event.type === 'AssetAdded') return addedAsset(event);
  if (event.type === 'AssetRemoved')
    return { status: 'removed', multipart: openMultipart(state), deletion: null };
  if (isDeletionEvent(event))
    return state.status === 'removed' ? { ...state, deletion: applyDeletion(state.deletion, event) } : state;
  if (isMultipartEvent(event)) {
    if (state.status === 'absent') return state;
    const fileSize = state.status === 'existing' ? state.size : 0;
    return { ...state, multipart: applyMultipart(state.multipart, event, fileSize) };
  }
  if (state.status !== 'existing') return state;
  if (isUploadEvent(event)) return evolveUpload(state, event);
  const lastCommands = [...state.lastCommands, event.metadata.command_id].slice(-lastCommandsMax);
  return { ...state, ...applyChange(state, event), lastCommands };
}

/** More than an asset gets in the minute for which a command may run. */
const lastCommandsMax = 100;

function evolveUpload(asset: ExistingAsset, event: AssetUploadEvent): ExistingAsset {
  switch (event.type) {
    case 'AssetUploadExpected':
      return { ...asset, expected: event.data };
    case 'AssetUploadMissing':
      return { ...asset, ...applyUpload(asset, event) };
    case 'AssetUploadChecksEnded':
    case 'AssetUploadVerified':
    case 'AssetUploadMismatched':
      return { ...asset, ...applyUpload(asset, event), expected: null };
  }
}

function addedAsset(event: Extract<Evolving<AssetEvent>, { type: 'AssetAdded' }>): ExistingAsset {
  const { data: description, metadata } = event;
  return {
    status: 'existing',
    ...description,
    ...newUpload,
    expected: null,
    lastCommands: [metadata.command_id],
    multipart: null,
  };
}

/** Returns the upload in parts that the bucket holds open for an asset, or for a removed one. */
export function openMultipart(state: AssetState): OpenMultipart | null {
  return state.status === 'absent' ? null : state.multipart;
}

/**
 * Returns the open upload of the file that the asset describes. One that began for another size has parts of another file, and
 * goes on no more.
 */
export function multipartOfFile({ multipart, size }: ExistingAsset): OpenMultipart | null {
  return multipart?.file_size === size ? multipart : null;
}

/** The commands of a project's members on an asset. */
type MemberCommand = Extract<
  AssetCommand,
  { type: 'Change' | 'PutRendition' | 'RemoveRendition' | 'Remove' | 'ExpectUpload' | 'RecordAnswer' }
>;

const forMember = narrowed<MemberCommand, AssetState, ExistingAsset, AssetEvent>(
  {
    Change: ({ changes }, asset) => changeAsset(asset, changes),
    PutRendition: ({ rendition }, asset) => putRendition(asset, rendition),
    RemoveRendition: (command, asset) => removeRendition(asset, command),
    Remove: ({ deleteFrom }, asset) => removeAsset(asset, deleteFrom),
    // A first check that is still ahead serves this URL too, so an asset gets one such event a minute at most. One that is
    // further ahead than a new one was set while a clock was ahead.
    ExpectUpload: ({ now }, { expected }) => {
      const data = checkAfter(0, now);
      if (data === null) return [];
      const isAhead = expected?.attempt === 1 && new Date(expected.check_at) > now;
      return isAhead && expected.check_at <= data.check_at ? [] : [{ type: 'AssetUploadExpected', data }];
    },
    RecordAnswer: ({ seen, sha256 }, asset) => {
      const event = eventOfAnswer(asset, seen, sha256);
      return event === null ? [] : [event];
    },
  },
  (state, { projectId }) => existingAsset(state, projectId),
);

const decide = decideBy<AssetCommand, AssetState, AssetEvent>({
  // The id derives from the command, so an earlier attempt made the existing asset.
  Add: ({ description, seen }, { status }) => (status === 'absent' ? addAsset(description, seen) : []),
  RecordDeletion: (command, state) =>
    state.status === 'removed' ? recordAttempt(state.deletion, command) : [],
  // A removed asset gets no upload; the use case then aborts it.
  StartMultipart: (command, state) =>
    state.status === 'existing' ? decideMultipart(command, state.multipart) : [],
  EndMultipart: (command, state) => decideMultipart(command, openMultipart(state)),
  PutOffAbort: (command, state) => decideMultipart(command, openMultipart(state)),
  /** Records the answer. Without a changed object, the service asks again later, until it asked often enough. */
  EndCheck: ({ check_at, answer, now }, asset) => {
    // A newer URL, or the client's own request, made this check superfluous.
    if (asset.status !== 'existing' || asset.expected?.check_at !== check_at) return [];
    const event = answer === null ? null : eventOfAnswer(asset, answer.seen, null);
    if (event !== null && event.type !== 'AssetUploadMissing') return [event];
    const next = checkAfter(asset.expected.attempt, now);
    return [
      ...(event === null ? [] : [event]),
      next === null
        ? { type: 'AssetUploadChecksEnded', data: {} }
        : { type: 'AssetUploadExpected', data: next },
    ];
  },
  ...forMember,
});

function addAsset(description: AssetDescription, seen: SeenObject | null = null): readonly AssetEvent[] {
  const added = { type: 'AssetAdded', data: description } as const;
  const found = seen === null ? null : eventOfAnswer({ ...description, ...newUpload }, seen, null);
  return found === null ? [added] : [added, found];
}

function removeAsset(asset: ExistingAsset, deleteFrom: DeletedFrom | null = null): readonly AssetEvent[] {
  const { project_id, storage_id } = asset;
  const removed = { type: 'AssetRemoved', data: { project_id, bytes: bytesOfAsset(asset) } } as const;
  if (deleteFrom === null) return [removed];
  const { endpoint, bucket, region, base_path } = deleteFrom;
  const object_keys = [...new Set(keysOfAsset(asset))];
  const data = { project_id, storage_id, endpoint, bucket, region, base_path, object_keys };
  return [removed, { type: 'AssetDeletionRequested', data }];
}

/** Returns the project's asset. @throws CommandRejected asset_not_found, also for an asset of another project */
export function existingAsset(state: AssetState, projectId: string): ExistingAsset {
  return state.status === 'existing' && state.project_id === projectId ? state : assetNotFound();
}

export const assetAggregate = defineAggregate(assetEvents, { initialState, decide, evolve });
