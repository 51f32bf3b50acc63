/*
 * Moves the wall clock of a served process: node --import jumping-clock.js. The file that CLOCK_OFFSET_FILE names holds
 * the offset in milliseconds; the process writes an offset that it has to the file with `.applied`. Timers and the monotonic clock stay, as when an operator sets the clock of a machine.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['CLOCK_OFFSET_FILE'] ?? '';
const RealDate = Date;
const readEveryMs = 20;
let offsetMs = 0;

const read = (): void => {
  const text = readFileSync(file, 'utf8');
  // A file that is being written is empty for a moment.
  if (!/^-?\d+$/.test(text) || Number(text) === offsetMs) return;
  offsetMs = Number(text);
  if (isMainThread) writeFileSync(`${file}.applied`, text);
};
const now = (): number => RealDate.now() + offsetMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget): Date =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, key): unknown => (key === 'now' ? now : Reflect.get(target, key)),
});

read();
setInterval(read, readEveryMs).unref();
