import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import type { Environment } from './service-process.js';

const preload = new URL('jumping-clock.js', import.meta.url).href;

/** The wall clock of a served process, which a test sets. */
interface ClockOfProcess {
  /** Variables for the start of the process. */
  readonly environment: Environment;
  /** Sets the clock to the real time plus an offset. Resolves when the process has it. */
  set(offsetMs: number): Promise<void>;
}

/** Makes the wall clock of a served process, which a test sets. */
export function makeClockOfProcess(directory: string): ClockOfProcess {
  const file = join(directory, 'clock-offset');
  writeFileSync(file, '0');
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, CLOCK_OFFSET_FILE: file },
    set: async (offsetMs) => {
      writeFileSync(file, String(offsetMs));
      const applied = (): string =>
        existsSync(`${file}.applied`) ? readFileSync(`${file}.applied`, 'utf8') : '0';
      await eventually('the process has the clock', () => applied() === String(offsetMs));
    },
  };
}
