import type { EventMetadata } from '../../../src/event-sourcing/ports/domain-event.js';

/** The metadata of an event that a test appends without a command. */
export function metadataOf(
  commandId: string,
  actor = 'operator',
  time = '2026-01-02T03:04:05.000Z',
): EventMetadata {
  const ids = { command_id: commandId, causation_id: commandId, correlation_id: commandId };
  return { ...ids, actor, time };
}
