import { readFileSync } from 'node:fs';
import { freePort, startService } from '../support/servers/service-process.js';
import { withLog } from './logs.js';
import { compare, type Comparison } from './measure.js';

const events = 1_000_000;
const rounds = 3;

/** Compares the start of the service on a long log with existing views to the start on an empty log. */
export async function benchStart(): Promise<readonly Comparison[]> {
  return withLog(0, (empty) =>
    withLog(events, async (long) => {
      // These starts make the keys and the views for the measured ones.
      await measureStart(empty);
      await measureStart(long);
      const memory = { empty: 0, long: 0 };
      const time = await compare(
        {
          what: `start on ${events.toLocaleString('en')} events: time to ready`,
          anchor: 'on an empty log',
          unit: 'ms',
          goal: { atMost: 1.5 },
        },
        rounds,
        {
          ours: async () => {
            const { ms, rssMiB } = await measureStart(long);
            memory.long = rssMiB;
            return ms;
          },
          anchor: async () => {
            const { ms, rssMiB } = await measureStart(empty);
            memory.empty = rssMiB;
            return ms;
          },
        },
      );
      const resident = await compare(
        {
          what: `start on ${events.toLocaleString('en')} events: resident memory`,
          anchor: 'on an empty log',
          unit: 'MiB',
          goal: { atMost: 1.5 },
        },
        1,
        { ours: () => Promise.resolve(memory.long), anchor: () => Promise.resolve(memory.empty) },
      );
      return [time, resident];
    }),
  );
}

/** Returns the time from the start of the process until it is ready, and its resident memory (NaN outside Linux). */
async function measureStart(directory: string): Promise<{ readonly ms: number; readonly rssMiB: number }> {
  const port = await freePort();
  const began = performance.now();
  const service = await startService({
    directory,
    port,
    environment: { LOG_LEVEL: 'silent' },
    cpuMs: 300_000,
    pollMs: 5,
  });
  const ms = performance.now() - began;
  const rssMiB = residentMiB(service.pid);
  await service.stop();
  return { ms, rssMiB };
}

function residentMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
