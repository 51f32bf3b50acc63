import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../../event-sourcing/ports/domain-event.js';
import { damage } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';

/** Returns the CRC-32 (ISO 3309) of a document: of its id, its revision, and its body as JSON (null: a tombstone). */
export function documentChecksum(
  id: string,
  revision: bigint | string,
  body: Buffer | string | null,
): number {
  return crc32(body ?? '', crc32(`${id}/${revision}/${body === null ? 'gone' : 'body'}/`));
}

/** Parses a body after its checksum. @throws StoreDamaged when the document differs from the written one */
export function decodeDocumentBody(
  {
    id,
    revision,
    body,
  }: { readonly id: string; readonly revision: bigint | string; readonly body: Buffer | null },
  checksum: bigint | number,
): JsonObject | null {
  if (BigInt(documentChecksum(id, revision, body)) !== BigInt(checksum)) {
    throw damage(readModelsFormat, 'a document differs from the one that was written');
  }
  // The checksum proves that the writer encoded this body.
  return body === null ? null : (JSON.parse(body.toString()) as JsonObject);
}
