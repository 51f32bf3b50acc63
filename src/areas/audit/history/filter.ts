import { hash } from 'node:crypto';

/** The size of a filter: 16 bits for each of the 1,024 terms that 256 events have at most. */
export const filterBytes = 2_048;
/** The bits of a term. With 1,024 terms, one lookup in 2,000 finds a term that is not there. */
const bitsPerTerm = 7;

/** What a search of events may name. */
export type TermKind = 'stream' | 'type' | 'actor' | 'project';

/** Returns a term of a filter. */
export function filterTerm(kind: TermKind, value: string): string {
  return `${kind}:${value}`;
}

/** Makes the Bloom filter of the terms of a tile's events. The same terms make the same bytes. */
export function makeFilter(terms: Iterable<string>): Buffer {
  const filter = Buffer.alloc(filterBytes);
  for (const term of terms) {
    for (const bit of bitsOf(term)) filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return filter;
}

/** Makes the check whether a filter may contain all of the terms: false is certain. */
export function makeMayContain(terms: readonly string[]): (filter: Buffer) => boolean {
  const bits = terms.flatMap(bitsOf);
  return (filter) => bits.every((bit) => ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

function bitsOf(term: string): readonly number[] {
  const digest = hash('sha256', term, 'buffer');
  return Array.from(
    { length: bitsPerTerm },
    (_, offset) => digest.readUInt16BE(offset * 2) % (filterBytes * 8),
  );
}
