import { setTimeout as wait } from 'node:timers/promises';
import { cpuMsOf, isRunnable } from './servers/process-costs.js';

/** Two minutes on an idle machine. The first polls come sooner, so that most waits end at once. */
const pollsMax = 6_200;
const pollMsMax = 20;
/** Far more than a program of the tests needs for anything that a test waits for. */
const cpuMsMax = 60_000;

type Found<Value> = Exclude<Value, false | null | undefined>;

export interface EventuallyOptions {
  /** The other process that brings it about. */
  readonly pid?: number | undefined;
  /** The milliseconds between two polls, from 1 to 20 by default. A longer time makes a longer wait. */
  readonly pollMs?: number | undefined;
  /** The CPU time of that process in ms after which it gives up: a minute by default. */
  readonly cpuMs?: number | undefined;
  /** The polls after which it gives up. With `pid`, those at which that process had work do not count. */
  readonly polls?: number;
  /** The helper that calls this at once. A failure then names the line that called the helper. */
  readonly at?: (...args: never[]) => unknown;
}

/**
 * Polls until `read` returns anything but false, null and undefined. It gives up by the count of polls, not by the time:
 * other programs that keep the cores busy make no test fail. With `pid` it also gives up when that process has had a
 * minute of CPU time.
 *
 * @param what what has to come about: the sentence of the failure
 * @returns what `read` returned
 * @throws Error with `what`, the polls and the CPU time of the process, at the line that waits; and what `read` throws
 */
export async function eventually<Value>(
  what: string | (() => string),
  read: () => Value | Promise<Value>,
  options: EventuallyOptions = {},
): Promise<Found<Value>> {
  const { pollMs, at = eventually } = options;
  const place = { stack: '' };
  Error.captureStackTrace(place, at);
  const patience = await startPatience(options);
  for (let polls = 1; ; polls += 1) {
    const value = await read();
    if (value !== false && value !== null && value !== undefined) return value as Found<Value>;
    const spentMs = await patience.endsAfter();
    if (spentMs !== null) {
      const sentence = typeof what === 'string' ? what : what();
      const message = `${sentence}: this did not come about in ${polls} polls and ${spentMs / 1_000} s of CPU`;
      const [, ...frames] = place.stack.split('\n');
      throw Object.assign(new Error(message), { stack: [`Error: ${message}`, ...frames].join('\n') });
    }
    await wait(pollMs ?? Math.min(polls, pollMsMax));
  }
}

/** Counts polls. `endsAfter` returns the CPU time of the process since the start in ms, once the wait is to end. */
async function startPatience({ pid, polls = pollsMax, cpuMs = cpuMsMax }: EventuallyOptions) {
  const cpuMsNow = async (): Promise<number> => {
    if (pid !== undefined) return cpuMsOf({ pid });
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  const begunMs = await cpuMsNow();
  let [idle, spentMs] = [0, 0];
  return {
    endsAfter: async (): Promise<number | null> => {
      const before = spentMs;
      spentMs = (await cpuMsNow()) - begunMs;
      if (pid === undefined) idle += 1;
      else if (spentMs > cpuMs) return spentMs;
      else if (spentMs <= before && !(await isRunnable({ pid }))) idle += 1;
      return idle >= polls ? spentMs : null;
    },
  };
}
