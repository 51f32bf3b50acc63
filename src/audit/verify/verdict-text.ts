import { verifierBounds, shown } from './basics.js';
import type { VerifierPlace } from './run.js';
import type { VerifierOptions, VerifierVerdict } from './verify-export.js';

/** Says in plain words what a verification has shown, and where it found problems. */
export function verdictLines(verdict: VerifierVerdict, { part, kept }: VerifierOptions): readonly string[] {
  const { problems, places, witnesses, from, until } = verdict;
  return [
    headline(verdict, part ?? false),
    ...places.map(placeLine),
    ...(problems > places.length ? [`- and ${problems - places.length} more`] : []),
    `Signed by: ${verdict.signers.map(shown).join(', ') || 'no known key'}`,
    ...(witnesses.length > 0 ? [`Cosigned by: ${witnesses.map(shown).join(', ')}`] : []),
    ...(from === null ? [] : [`Time: ${from} to ${until ?? from}`]),
    ...streamLines(verdict),
    ...keptLines(verdict, kept?.length ?? 0),
    ...extraLines(verdict),
  ];
}

function headline({ problems, size, origin, root }: VerifierVerdict, part: boolean): string {
  const log = `${size} events of ${shown(origin)}, root ${root}`;
  if (problems > 0) return `NOT VERIFIED: ${problems} problems. The checkpoint names ${log}`;
  if (part) return `UNCHANGED: these events are in the log of ${log}. Completeness is not shown.`;
  return `VERIFIED: ${log}`;
}

function placeLine({ path, what, first, last, stream, revision }: VerifierPlace): string {
  const name = stream === undefined ? '' : `, stream ${shown(stream)}, revision ${revision ?? 0}`;
  const events = first === last ? `event ${first ?? 0}${name}` : `events ${first ?? 0} to ${last ?? 0}`;
  return `- ${first === undefined ? '' : `${events}, `}${path}: ${what}`;
}

function streamLines({ problems, streams, begunLater, unchecked }: VerifierVerdict): readonly string[] {
  const gaps = problems === 0 ? 'no revision is missing where they begin or after' : 'revisions compared';
  return [
    `Streams: ${streams}, ${gaps}; ${begunLater} begin after revision 0`,
    ...(unchecked === 0 ? [] : [`Not compared: the revisions of ${unchecked} events of further streams`]),
  ];
}

function keptLines({ agreed }: VerifierVerdict, count: number): readonly string[] {
  if (count === 0) {
    return [
      'First time: nothing was kept, so an earlier change cannot be seen. Keep this checkpoint for the next time.',
    ];
  }
  return agreed === null
    ? []
    : [`Kept: the log begins with the ${agreed} events of the kept checkpoint.`];
}

function extraLines({ extras }: VerifierVerdict): readonly string[] {
  if (extras.length === 0) return [];
  const count = extras.length < verifierBounds.places ? String(extras.length) : `at least ${extras.length}`;
  return [
    `Not read: ${count} files that the checkpoint does not cover, for example ${shown(extras[0] ?? '')}`,
  ];
}
