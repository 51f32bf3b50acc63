import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** The change, or the reason why the thread has the priority of the process. */
export type ThreadPriority = `lowered by ${number}` | `not lowered: ${string}`;

/**
 * Gives the calling thread a lower priority than the other threads of the process. Linux's setpriority acts on a thread
 * (setpriority(2), "C library/kernel differences"), and its id is the name of `/proc/thread-self`. Other systems have
 * neither, and there their priority stays: with `process.pid` the whole process would get it.
 * @param nice 0 to 19, added to the priority of the process; with 10 a thread gets a tenth of the time of another one
 */
export function lowerThreadPriority(nice: number): ThreadPriority {
  if (nice === 0) return 'not lowered: HASHING_NICE is 0';
  try {
    const [, thread = ''] = /^\d+\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    if (thread === '') return 'not lowered: this system does not name its threads';
    setPriority(Number(thread), Math.min(19, getPriority(Number(thread)) + nice));
    return `lowered by ${nice}`;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return `not lowered: ${code}`;
  }
}
