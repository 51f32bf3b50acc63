import { parseStreamName } from '../event-sourcing/decider.js';

/** The id in the name of an event's stream. */
export function streamIdOf({ stream }: { readonly stream: string }): string {
  return parseStreamName(stream)?.id ?? '';
}
