import type { AllStreamRecordedEvent } from '@eventstore/db-client';
import test from 'ava';
import { formatPosition, searchPosition } from '../../../src/stores/eventstoredb/same-log/positions.js';
import type { Reads } from '../../../src/stores/eventstoredb/calls/reads.js';
import { partial } from '../../support/fakes/partial.js';

const { signal } = new AbortController();
const positionAt = (offset: number) => ({ commit: BigInt(offset), prepare: BigInt(offset) });

/** Reads of a log with these records, in pages of two, backwards from the end. */
function givenReads(...log: readonly (readonly [streamId: string, revision: bigint])[]): Pick<Reads, 'all'> {
  const records = log.map(([streamId, revision], offset) =>
    partial<AllStreamRecordedEvent>({ streamId, revision, position: positionAt(offset) }),
  );
  return {
    all: ({ from }) => {
      const before = typeof from === 'string' ? records.length : Number(from.commit);
      const found = records.slice(Math.max(0, before - 2), before).reverse();
      return Promise.resolve({ records: found, sizes: found.map(() => 1), ended: true });
    },
  };
}

const reads = givenReads(['one', 0n], ['two', 0n], ['one', 1n], ['two', 1n], ['one', 2n]);

test('The search finds an event by its stream and its revision, in any page of the log', async (t) => {
  for (const [name, revision, offset] of [
    ['one', 0n, 0],
    ['two', 0n, 1],
    ['one', 1n, 2],
    ['two', 1n, 3],
    ['one', 2n, 4],
  ] as const)
    t.is(await searchPosition(reads, { name, revision }, signal), formatPosition(positionAt(offset)));
});

test('The search of an event that the log lacks ends at its begin, and an aborted one at once', async (t) => {
  t.is(await searchPosition(reads, { name: 'two', revision: 2n }, signal), null);
  t.is(await searchPosition(reads, { name: 'three', revision: 0n }, signal), null);
  t.is(await searchPosition(reads, { name: 'one', revision: 0n }, AbortSignal.abort()), null);
});
