import type { StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';

const projectStream = /^project-(.+)$/;

/**
 * Returns the id of the project that a stream belongs to; null for none. The first event of a storage, asset, share, order,
 * access to a share or mail of a share names its project in `project_id`.
 */
export function projectOfFirstEvent({ stream, data }: Pick<StoredEvent, 'stream' | 'data'>): string | null {
  const named = data['project_id'];
  return typeof named === 'string' ? named : (projectStream.exec(stream)?.[1] ?? null);
}
