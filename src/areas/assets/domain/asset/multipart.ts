import { decideBy } from '../../../../event-sourcing/deciding/command-handler.js';
import { TargetNotFound } from '../../../../event-sourcing/ports/errors.js';
import type { AssetEvent } from './events.js';
import type { AssetRejection } from './rejections.js';

type Started = Extract<AssetEvent, { type: 'AssetMultipartStarted' }>['data'];

/**
 * An upload in parts that the bucket still holds open (src/areas/assets/README.md#multipart-uploads). `attempt`: 1 for the first attempt
 * to abort it. `file_size`: that of the file which it began for.
 */
export type OpenMultipart = Started & { readonly attempt: number; readonly file_size: number };

/** What tells an object apart; null where the bucket named none. */
export type ReplacedObject = NonNullable<Started['replaces']>;

/** Says whether the bucket has another object than before the upload: its tag or its time tells. */
export function isNewObject(replaced: ReplacedObject | null, found: ReplacedObject): boolean {
  return (
    replaced === null ||
    differs(replaced.entity_tag, found.entity_tag) ||
    differs(replaced.modified_at, found.modified_at)
  );
}

function differs(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

export type MultipartOutcome = Extract<AssetEvent, { type: 'AssetMultipartEnded' }>['data']['outcome'];

const mebibyte = 2 ** 20;
const partSizeMin = 16 * mebibyte;
/** Parts of one upload that S3, OSS and COS accept. */
const partsMax = 10_000;

/** Returns the size of each part but the last for a file, in bytes: 16 MiB, or more for files above 156 GiB. */
export function partSizeFor(fileSize: number): number {
  return Math.max(partSizeMin, Math.ceil(fileSize / partsMax / mebibyte) * mebibyte);
}

/** Returns the number of parts. An empty file is one empty part. */
export function partCountOf(fileSize: number, partSize: number): number {
  return Math.max(1, Math.ceil(fileSize / partSize));
}

/** Returns the size in bytes of a part. @param partNumber 1 for the first */
export function bytesOfPart(fileSize: number, partSize: number, partNumber: number): number {
  return Math.min(partSize, fileSize - (partNumber - 1) * partSize);
}

const dayMs = 24 * 3_600_000;
const abandonedAfterMs = 7 * dayMs;
const abortAttemptsMax = 7;

/** Returns the time when an upload that starts now is abandoned. */
export function abandonedAt(now: Date): string {
  return new Date(now.getTime() + abandonedAfterMs).toISOString();
}

/** Commands about an upload in parts. They do not check the project: the use case has found the upload by it. */
export type MultipartCommand =
  /** The bucket opened an upload. While another one is open, that one stays. */
  | { readonly type: 'StartMultipart'; readonly upload: Started }
  | { readonly type: 'EndMultipart'; readonly uploadId: string; readonly outcome: MultipartOutcome }
  /** An abort got no answer. */
  | { readonly type: 'PutOffAbort'; readonly uploadId: string; readonly attempt: number; readonly now: Date };

/** @param open the open upload of an asset, or of a removed one */
export const decideMultipart = decideBy<MultipartCommand, OpenMultipart | null, AssetEvent>({
  StartMultipart: (command, open) =>
    open === null ? [{ type: 'AssetMultipartStarted', data: command.upload }] : [],
  EndMultipart: (command, open) => endMultipart(open, command.uploadId, command.outcome),
  PutOffAbort: (command, open) => putOffAbort(open, command),
});

/** Folds an event of an asset, or of a removed asset, into its open upload. @param fileSize of the asset; 0 of a removed one */
export function applyMultipart(
  open: OpenMultipart | null,
  event: Extract<AssetEvent, { type: `AssetMultipart${string}` }>,
  fileSize: number,
): OpenMultipart | null {
  switch (event.type) {
    case 'AssetMultipartStarted':
      return { ...event.data, attempt: 1, file_size: fileSize };
    case 'AssetMultipartAbortPutOff':
      return open === null ? null : { ...open, ...event.data };
    case 'AssetMultipartEnded':
      return null;
  }
}

/** Ends an upload; nothing where it has ended. */
function endMultipart(
  open: OpenMultipart | null,
  uploadId: string,
  outcome: MultipartOutcome,
): readonly AssetEvent[] {
  if (open?.upload_id !== uploadId) return [];
  return [{ type: 'AssetMultipartEnded', data: { upload_id: uploadId, outcome } }];
}

/** Puts off the abort of an upload by a day, because its bucket gave no answer; gives up after 7 attempts. */
function putOffAbort(
  open: OpenMultipart | null,
  { uploadId, attempt, now }: { readonly uploadId: string; readonly attempt: number; readonly now: Date },
): readonly AssetEvent[] {
  if (open?.upload_id !== uploadId || open.attempt !== attempt) return [];
  if (attempt >= abortAttemptsMax) return endMultipart(open, uploadId, 'given_up');
  const abort_at = new Date(now.getTime() + dayMs).toISOString();
  return [
    { type: 'AssetMultipartAbortPutOff', data: { upload_id: uploadId, attempt: attempt + 1, abort_at } },
  ];
}

/** @throws TargetNotFound upload_not_found */
export function uploadNotFound(): never {
  throw new TargetNotFound<AssetRejection>(
    'upload_not_found',
    'the upload is not open: it was completed or aborted, or it never began',
  );
}
