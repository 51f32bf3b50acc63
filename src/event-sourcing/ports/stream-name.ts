/** Returns the name of a stream without the store's prefix. */
export function streamName(category: string, id: string): string {
  return `${category}-${id}`;
}

/** Splits a stream name; null for a name that `streamName` cannot make. */
export function parseStreamName(stream: string): { readonly category: string; readonly id: string } | null {
  const dash = stream.indexOf('-');
  if (dash <= 0 || dash === stream.length - 1) return null;
  return { category: stream.slice(0, dash), id: stream.slice(dash + 1) };
}

/** Returns the id in the name of an event's stream; `''` for a name that `streamName` cannot make. */
export function streamIdOf({ stream }: { readonly stream: string }): string {
  return parseStreamName(stream)?.id ?? '';
}
