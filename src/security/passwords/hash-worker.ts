import { lowerThreadPriority, type ThreadPriority } from './thread-priority.js';
import { type ScryptInput, chooseScrypt } from './scrypt.js';

export interface HashRequest {
  readonly input: ScryptInput;
  /** See `lowerThreadPriority`. */
  readonly nice: number;
}

/** A hash, or the name of an error, whose message could contain the input. */
export type HashReply =
  | { readonly output: Uint8Array; readonly tookMs: number; readonly priority: ThreadPriority }
  | { readonly failed: string };

const scrypt = chooseScrypt();
let priority: ThreadPriority | null = null;

export function hash({ input, nice }: HashRequest): HashReply {
  priority ??= lowerThreadPriority(nice);
  const beganMs = performance.now();
  try {
    const output = scrypt(input);
    return { output, tookMs: performance.now() - beganMs, priority };
  } catch (error) {
    return { failed: error instanceof Error && 'code' in error ? String(error.code) : 'unknown error' };
  }
}
