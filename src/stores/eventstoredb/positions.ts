import type { Position as LogPosition } from '@eventstore/db-client';
import type { Position } from '../../event-sourcing/domain-event.js';
import { StoreDamaged } from '../../event-sourcing/errors.js';

/** As many digits as the largest unsigned 64-bit number has. */
const digits = 20;
const shape = /^(\d{20})-(\d{20})$/;

/** What servers before 22.6 give where they know no position (`Position.End`). */
const unknown = 2n ** 64n - 1n;

/** `<commit>-<prepare>`, each padded with zeros to 20 digits, so that positions sort as bytes. */
export function formatPosition({ commit, prepare }: LogPosition): Position {
  return `${pad(commit)}-${pad(prepare)}`;
}

/** The position of a record or an append, or null where the server did not tell it. */
export function knownPosition(position: LogPosition | undefined): Position | null {
  if (position === undefined || position.commit === unknown) return null;
  return formatPosition(position);
}

/** @throws StoreDamaged when it is no position of such a log */
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
