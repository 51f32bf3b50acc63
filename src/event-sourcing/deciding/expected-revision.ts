import { PreconditionFailed } from '../ports/errors.js';

/** The revisions that `If-Match` names; none where all its tags are of something else. */
export type NamedRevisions = bigint | readonly bigint[];

/** @throws PreconditionFailed where the stream has another revision than each expected one; null: no event */
export function requireRevision(expected: NamedRevisions | undefined, revision: bigint | null): void {
  if (expected === undefined) return;
  const named = typeof expected === 'bigint' ? [expected] : expected;
  if (revision !== null && named.includes(revision)) return;
  throw new PreconditionFailed(
    revision !== null && named.some((one) => one < revision)
      ? 'the resource has changed since the revision named in If-Match'
      : 'If-Match names no revision of this resource; read it, and send its ETag',
  );
}
