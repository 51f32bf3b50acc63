import { hash } from 'node:crypto';

/** The size of a filter: 16 bits for each of the 1,024 terms that 256 events have at most. */
export const filterBytes = 2_048;
/** The bits of a term. With 1,024 terms, one lookup in 2,000 finds a term that is not there. */
const bitsPerTerm = 7;

/** What a search of events may name. */
export const termKinds = ['stream', 'type', 'actor', 'project'] as const;
export type TermKind = (typeof termKinds)[number];

/** Returns a term of a filter. */
export function filterTerm(kind: TermKind, value: string): string {
  return `${kind}:${value}`;
}

/** Makes the Bloom filter of the terms of a tile's events. The same terms make the same bytes. */
export function makeFilter(terms: Iterable<string>): Buffer {
  const filter = Buffer.alloc(filterBytes);
  for (const term of terms) {
    const digest = hash('sha256', term, 'buffer');
    for (let at = 0; at < bitsPerTerm; at += 1) {
      const bit = bitOf(digest, at);
      filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return filter;
}

/** Returns whether the filter may contain a term: false is certain. */
export function mayContain(filter: Buffer, term: string): boolean {
  const digest = hash('sha256', term, 'buffer');
  const bits = Array.from({ length: bitsPerTerm }, (_, at) => bitOf(digest, at));
  return bits.every((bit) => ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

function bitOf(digest: Buffer, at: number): number {
  return digest.readUInt16BE(at * 2) % (filterBytes * 8);
}
