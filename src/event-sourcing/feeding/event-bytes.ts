/** Returns the size of an event's data and metadata as JSON, in UTF-8 bytes. Binary values count as they are. */
export function eventBytes({
  data,
  metadata,
}: {
  readonly data?: unknown;
  readonly metadata?: unknown;
}): number {
  return bytesOf(data) + bytesOf(metadata);
}

function bytesOf(value: unknown): number {
  if (value === undefined) return 0;
  return value instanceof Uint8Array ? value.byteLength : Buffer.byteLength(JSON.stringify(value));
}
