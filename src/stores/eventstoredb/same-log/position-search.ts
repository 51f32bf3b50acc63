import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import { logPageBytesMax } from '../../../event-sourcing/ports/event-store.js';
import { formatPosition, parsePosition } from './positions.js';
import type { Reads } from '../calls/reads.js';

const page = { limit: 500, direction: 'backwards', within: { bytes: logPageBytesMax, ms: 1_000 } } as const;

/**
 * Returns the position of an event; null when the log lacks it. It searches backwards from the end, because servers
 * before 22.6 give positions only in reads of the whole log. The caller's time limit bounds the search.
 */
export async function searchPosition(
  reads: Pick<Reads, 'all'>,
  { name, revision }: { readonly name: string; readonly revision: bigint },
  signal: AbortSignal,
): Promise<Position | null> {
  let from: Parameters<Reads['all']>[0]['from'] = 'end';
  while (!signal.aborted) {
    const { records } = await reads.all({ from, ...page }, signal);
    const found = records.find((record) => record.streamId === name && record.revision === revision);
    if (found !== undefined) return formatPosition(found.position);
    const last = records.at(-1);
    if (last === undefined) break;
    from = parsePosition(formatPosition(last.position));
  }
  return null;
}
