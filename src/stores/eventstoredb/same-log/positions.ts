import type { Position as LogPosition } from '@eventstore/db-client';
import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import { logPageBytesMax } from '../../../event-sourcing/ports/event-store.js';
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

/** The number of digits of the largest unsigned 64-bit number. */
const digits = 20;
const shape = /^(\d{20})-(\d{20})$/;

/** The offset that servers before 22.6 send for an unknown position (`Position.End`). */
const unknown = 2n ** 64n - 1n;

/** Formats a position as `<commit>-<prepare>`, each padded with zeros to 20 digits, so that positions sort as bytes. */
export function formatPosition({ commit, prepare }: LogPosition): Position {
  return `${pad(commit)}-${pad(prepare)}`;
}

/** Formats the position of a record or an append; null when the server did not give it. */
export function knownPosition(position: LogPosition | undefined): Position | null {
  if (position === undefined || position.commit === unknown) return null;
  return formatPosition(position);
}

/** Parses a position. @throws StoreDamaged when it is not a position of an EventStoreDB log */
export function parsePosition(position: Position): LogPosition {
  const [, commit, prepare] = shape.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) {
    throw new StoreDamaged(
      `"${position}" is no position of an EventStoreDB log; the checkpoint belongs to another kind of store`,
    );
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}

function pad(offset: bigint): string {
  return String(offset).padStart(digits, '0');
}
