import { type Bytes, bytesFromBase64 } from './bytes.js';
import type { KeptNote } from '../kept.js';
import {
  type CheckpointNote,
  checkSignature,
  type LogKey,
  parseCheckpointNote,
  parseLogKey,
} from './note.js';
import { isContinuation } from './tree.js';

/** How the checkpoint that the service shows stands to what this browser keeps. */
export type PageVerdict =
  | {
      /** `first`: this browser kept nothing before. */
      readonly kind: 'first' | 'continues';
      readonly shown: KeptNote;
      /** The key that signed it; null where this browser cannot check signatures. */
      readonly key: LogKey | null;
      /** Whether this browser remembered no key before. */
      readonly isKeyNew: boolean;
      readonly before: KeptNote | null;
    }
  /** What the service shows contradicts what this browser keeps, or is not signed by a remembered key. */
  | { readonly kind: 'failed'; readonly reason: string; readonly shown: string }
  /** The check could not be made, for example because the service does not answer. */
  | { readonly kind: 'unchecked'; readonly reason: string };

/** What a verdict is made of. */
interface VerdictInput {
  /** The signed checkpoint, as the service shows it. */
  readonly note: string;
  readonly kept: KeptNote | null;
  /** The vkeys that this browser remembers. */
  readonly remembered: readonly string[];
  /** The vkeys that the service names. They count only where this browser remembers none. */
  readonly offered: readonly string[];
  /** Fetches the consistency proof between two sizes. */
  readonly consistency: (from: number, to: number) => Promise<readonly Bytes[]>;
}

type Signing = { readonly key: LogKey | null } | { readonly reason: string };

/**
 * Checks the signature of a checkpoint and that it continues the kept one.
 * @throws the errors of `consistency`
 */
export async function judgeCheckpoint(input: VerdictInput): Promise<PageVerdict> {
  const { note, kept } = input;
  const failed = (reason: string): PageVerdict => ({ kind: 'failed', reason, shown: note });
  const checkpoint = parseCheckpointNote(note);
  if (checkpoint === null) return failed('The service shows a checkpoint that is no signed note.');
  const beforeSignature = kept === null ? null : differenceBySize(kept.checkpoint, checkpoint);
  if (beforeSignature !== null) return failed(beforeSignature);
  const signing = await signedBy(checkpoint, input);
  if ('reason' in signing) return failed(signing.reason);
  const shown = { note, checkpoint };
  const isKeyNew = input.remembered.length === 0;
  if (kept === null) return { kind: 'first', shown, key: signing.key, isKeyNew, before: null };
  const older = kept.checkpoint;
  if (older.size > 0) {
    const proof = older.size === checkpoint.size ? [] : await input.consistency(older.size, checkpoint.size);
    if (!(await isContinuation(older, checkpoint, proof))) return failed(anotherHistory(older, checkpoint));
  }
  return { kind: 'continues', shown, key: signing.key, isKeyNew, before: kept };
}

/** Parses a consistency proof: one hash a line, in base64. Returns null when the text is none. */
export function parseProofLines(text: string): readonly Bytes[] | null {
  const hashes = text
    .split('\n')
    .slice(0, -1)
    .map((line) => hashOfLine(line));
  const isWhole = text === '' || text.endsWith('\n');
  return isWhole && hashes.length <= 128 && hashes.every((hash) => hash !== null) ? hashes : null;
}

function differenceBySize(older: CheckpointNote, newer: CheckpointNote): string | null {
  if (older.origin !== newer.origin)
    return `The service shows another log. This browser kept ${older.origin}; the service shows ${newer.origin}. An operator may have restarted the log: look for AuditRestarted among the events, and compare the checkpoint that it names.`;
  if (newer.size < older.size)
    return `The log is shorter than what this browser saw: ${older.size} events before, ${newer.size} now. Events were cut off, or an old backup was restored.`;
  return null;
}

function anotherHistory(older: CheckpointNote, newer: CheckpointNote): string {
  return newer.size === older.size
    ? `The service shows another root for the same ${older.size} events. At least one of them was changed, removed, inserted or moved.`
    : `The ${newer.size} events do not continue the ${older.size} events that this browser saw. At least one of those was changed, removed, inserted or moved.`;
}

async function signedBy(checkpoint: CheckpointNote, { remembered, offered }: VerdictInput): Promise<Signing> {
  const isFirst = remembered.length === 0;
  const keys = (await Promise.all((isFirst ? offered : remembered).map(parseLogKey))).filter(
    (key): key is LogKey => key?.name === checkpoint.origin,
  );
  let signer: LogKey | null = null;
  for (const key of keys) {
    const found = await checkSignature(checkpoint, key);
    if (found === 'unsupported') return { key: null };
    if (found === 'invalid') return { reason: `The signature by the key ${key.keyId} does not hold.` };
    if (found === 'valid') signer ??= key;
  }
  if (signer !== null) return { key: signer };
  return {
    reason: isFirst
      ? 'No key that the service names has signed the checkpoint.'
      : 'No key that this browser remembers has signed the checkpoint. Where the operator has announced another key, get it by a way that is not this service and add it under Status.',
  };
}

function hashOfLine(line: string): Bytes | null {
  const bytes = bytesFromBase64(line);
  return bytes?.length === 32 ? bytes : null;
}
