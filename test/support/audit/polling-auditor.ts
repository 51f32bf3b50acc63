import { isSignedBy, parseCheckpointText, parseNote, parseVkey } from '../../../src/areas/audit/tree/note.js';

/** What an auditor who polls has seen. */
interface Polled {
  /** The sizes of the different checkpoints. */
  readonly sizes: readonly number[];
  readonly polls: number;
  /** Sentences; empty if each checkpoint verified. */
  readonly problems: readonly string[];
}

/** An auditor who reads the served checkpoint without a pause, and has the public keys that the operator gave. */
interface PollingAuditor {
  /** Gives the auditor a further public key. */
  readonly tell: (vkey: string) => void;
  /** The last checkpoint that was served; null before the first. */
  readonly last: () => string | null;
  readonly stop: () => Promise<Polled>;
}

/**
 * Starts an auditor. Each checkpoint must verify under the newest key that the auditor had when it asked, and continue
 * the checkpoints before by its size.
 * @param read returns the served checkpoint; null while none is signed
 */
export function startPollingAuditor(
  read: () => Promise<string | null>,
  firstVkey: string,
  pollMs: number,
): PollingAuditor {
  const vkeys = [firstVkey];
  const sizes: number[] = [];
  const problems: string[] = [];
  let [last, text, polls, isStopped]: [string | null, string, number, boolean] = [null, '', 0, false];
  const running = pollUntilStopped();

  return {
    tell: (vkey) => vkeys.push(vkey),
    last: () => last,
    stop: async () => {
      isStopped = true;
      await running;
      return { sizes, polls, problems };
    },
  };

  async function pollUntilStopped(): Promise<void> {
    while (!isStopped) {
      const newest = vkeys.at(-1) ?? '';
      try {
        const served = await read();
        polls += 1;
        if (served !== null) check(served, newest);
        last = served;
      } catch (error) {
        problems.push(`a poll failed: ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  function check(served: string, vkey: string): void {
    const note = parseNote(served);
    const checkpoint = note === null ? null : parseCheckpointText(note.text);
    const verifier = parseVkey(vkey);
    if (note === null || checkpoint === null || verifier === null) {
      problems.push(`this is no checkpoint: ${served}`);
      return;
    }
    if (!note.signatures.some((line) => isSignedBy(verifier, note.text, line))) {
      problems.push(`the checkpoint of ${checkpoint.size} events does not verify under the key ${vkey}`);
    }
    const before = sizes.at(-1) ?? 0;
    if (checkpoint.size < before) problems.push(`${checkpoint.size} events follow ${before} events`);
    if (checkpoint.size === before && note.text !== text) {
      problems.push(`two checkpoints of ${before} events differ`);
    }
    if (checkpoint.size !== before) sizes.push(checkpoint.size);
    text = note.text;
  }
}

/** Returns whether a served checkpoint has a valid signature of the key. */
export function isSignedWith(served: string | null, vkey: string): boolean {
  const [note, verifier] = [parseNote(served ?? ''), parseVkey(vkey)];
  if (note === null || verifier === null) return false;
  return note.signatures.some((line) => isSignedBy(verifier, note.text, line));
}
