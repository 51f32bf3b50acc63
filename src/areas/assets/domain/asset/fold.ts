import type { AssetDescription, AssetEvent, Rendition } from './events.js';

/** Returns what an asset uses of the payer's capacity, in bytes: its own file and its renditions. */
export function bytesOfAsset({ size, renditions }: Pick<AssetDescription, 'size' | 'renditions'>): number {
  return renditions.reduce((sum, rendition) => sum + rendition.size, size);
}

/** Returns the keys of the objects that an asset names. */
export function keysOfAsset(input: Pick<AssetDescription, 'object_key' | 'renditions'>): readonly string[] {
  const { object_key, renditions } = input;
  return [object_key, ...renditions.map((rendition) => rendition.object_key)];
}

/** Whether the bucket holds the asset's own file as the asset describes it (src/areas/assets/README.md#uploads). */
type UploadStatus = 'pending' | 'complete' | 'mismatched';

/** The fields in which an object can differ from its asset. */
export type ObjectDifference = 'size' | 'media_type' | 'sha256';

/** An object as its bucket reported it. */
export type SeenObject = Extract<AssetEvent, { type: 'AssetUploadVerified' }>['data'];

export interface UploadFields {
  readonly upload: UploadStatus;
  /** The object at the last change; null where the service saw none. */
  readonly object: SeenObject | null;
  /** The fields of a `mismatched` object that differ from the asset. */
  readonly differs: readonly ObjectDifference[];
}

export type AssetUploadEvent = Extract<AssetEvent, { type: `AssetUpload${string}` }>;

export function isUploadEvent(event: AssetEvent): event is AssetUploadEvent {
  return event.type.startsWith('AssetUpload');
}

export function isMultipartEvent(
  event: AssetEvent,
): event is Extract<AssetEvent, { type: `AssetMultipart${string}` }> {
  return event.type.startsWith('AssetMultipart');
}

export function isDeletionEvent<Event extends AssetEvent>(
  event: Event,
): event is Extract<Event, { type: `AssetDeletion${string}` }> {
  return event.type.startsWith('AssetDeletion');
}

/** The fields of a new asset. */
export const newUpload: UploadFields = { upload: 'pending', object: null, differs: [] };

/** Folds an event into the fields. The aggregate and the view share it. */
export function applyUpload(fields: UploadFields, event: AssetUploadEvent): UploadFields {
  switch (event.type) {
    case 'AssetUploadExpected':
    case 'AssetUploadChecksEnded':
      return fields;
    case 'AssetUploadVerified':
      return { upload: 'complete', object: event.data, differs: [] };
    case 'AssetUploadMismatched': {
      const { differs, ...object } = event.data;
      return { upload: 'mismatched', object, differs };
    }
    case 'AssetUploadMissing':
      return { upload: 'pending', object: null, differs: [] };
  }
}

type AssetChangeEvent = Extract<
  AssetEvent,
  {
    type: 'AssetRenamed' | 'AssetTagged' | 'AssetFileChanged' | 'AssetRenditionPut' | 'AssetRenditionRemoved';
  }
>;

/** The fields that a change of an asset concerns. */
type ChangeableFields = Pick<AssetDescription, 'name' | 'media_type' | 'size' | 'tags' | 'renditions'>;

/** Folds a change into the fields. The aggregate and the view share it. */
export function applyChange(fields: ChangeableFields, event: AssetChangeEvent): ChangeableFields {
  switch (event.type) {
    case 'AssetRenamed':
      return { ...picked(fields), name: event.data.name };
    case 'AssetTagged':
      return { ...picked(fields), tags: event.data.tags };
    case 'AssetFileChanged':
      return { ...picked(fields), media_type: event.data.media_type, size: event.data.size };
    case 'AssetRenditionPut':
      return { ...picked(fields), renditions: withRendition(fields.renditions, event.data.rendition) };
    case 'AssetRenditionRemoved': {
      const { renditions } = fields;
      return { ...picked(fields), renditions: renditions.filter((one) => !isSameRendition(one, event.data)) };
    }
  }
}

function picked({ name, media_type, size, tags, renditions }: ChangeableFields): ChangeableFields {
  return { name, media_type, size, tags, renditions };
}

/** An asset has one rendition of a kind in a language. */
export function isSameRendition(
  one: Pick<Rendition, 'kind' | 'language'>,
  other: Pick<Rendition, 'kind' | 'language'>,
): boolean {
  return one.kind === other.kind && one.language === other.language;
}

/** Replaces the rendition of the same kind and language in its place, or adds one at the end. */
function withRendition(renditions: readonly Rendition[], put: Rendition): Rendition[] {
  return renditions.some((one) => isSameRendition(one, put))
    ? renditions.map((one) => (isSameRendition(one, put) ? put : one))
    : [...renditions, put];
}

/** Returns the form in which two tags are equal that differ only in capitals. */
export function sameTag(tag: string): string {
  return tag.trim().normalize('NFC').toLowerCase();
}
