import { setApartItems } from '../feeding/set-apart.js';
import type { ReadModelStore } from '../ports/read-model-store.js';

/** An event that a reaction has set apart. */
interface SetApartEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: string;
  readonly reason: string;
}

/**
 * Returns the events that reactions of any release have set apart, by reaction. A reaction without such events is absent.
 * @throws StoreUnavailable
 */
export async function setApartEvents(
  readModelStore: Pick<ReadModelStore, 'scan'>,
): Promise<ReadonlyMap<string, readonly SetApartEvent[]>> {
  const events = new Map<string, SetApartEvent[]>();
  // The owner of a record is the checkpoint of its reaction, `reaction/<name>`.
  for (const { id: named, event, reason } of await setApartItems(readModelStore, 'reaction')) {
    const [reaction = '', id = ''] = named.split('/');
    const { stream = '', revision = '' } = event ?? {};
    events.set(reaction, [...(events.get(reaction) ?? []), { id, stream, revision, reason }]);
  }
  return events;
}
