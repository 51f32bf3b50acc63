import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { fillMixedLog } from '../support/given/mixed-log.js';
import { withLog } from './logs.js';
import { compare, type Comparison, median } from './measure.js';

const child = fileURLToPath(new URL('./catch-up-child.js', import.meta.url));
const outcome = z.object({ seconds: z.number(), cpuSeconds: z.number(), rssMiB: z.number() });

const events = 200_000;
const mixedEvents = 100_000;
const fewEvents = 10_000;
const manyEvents = 1_000_000;

/**
 * Compares the catch-up of a view, and of all views, with a bare loop over the same rows, and measures its memory on a log of 100 times
 * the length.
 */
export async function benchCatchUp(): Promise<readonly Comparison[]> {
  const speed = await withLog(events, (directory) =>
    compare(
      {
        what: `catching up a view on ${events.toLocaleString('en')} events`,
        anchor: 'bare read, parse, upsert',
        unit: 'events/s',
        goal: { atLeast: 0.6 },
      },
      3,
      {
        ours: async () => events / (await run(directory, 'ours')).seconds,
        anchor: async () => events / (await run(directory, 'bare')).seconds,
      },
    ),
  );
  const all = await withLog(
    mixedEvents,
    (directory) =>
      compare(
        {
          what: `catching up all views on ${mixedEvents.toLocaleString('en')} events`,
          anchor: 'bare read, parse, upsert',
          unit: 'events/s',
          goal: null,
        },
        3,
        {
          ours: async () => mixedEvents / (await run(directory, 'all')).seconds,
          anchor: async () => mixedEvents / (await run(directory, 'bare')).seconds,
        },
      ),
    fillMixedLog,
  );
  const rebuilt = await withLog(
    mixedEvents,
    (directory) =>
      compare(
        {
          what: `rebuilding a view on ${mixedEvents.toLocaleString('en')} events of all views`,
          anchor: 'bare read, parse, upsert',
          unit: 'events/s',
          goal: null,
        },
        3,
        {
          ours: async () => mixedEvents / (await run(directory, 'rebuild')).seconds,
          anchor: async () => mixedEvents / (await run(directory, 'bare')).seconds,
        },
      ),
    fillMixedLog,
  );
  const few = await withLog(fewEvents, medianMemory);
  const memory = await withLog(manyEvents, (directory) =>
    compare(
      {
        what: `memory of catching up on ${manyEvents.toLocaleString('en')} events`,
        anchor: `on ${fewEvents.toLocaleString('en')}`,
        unit: 'MiB',
        goal: { atMost: 1.5 },
      },
      1,
      { ours: async () => (await run(directory, 'ours')).rssMiB, anchor: () => Promise.resolve(few) },
    ),
  );
  return [speed, all, rebuilt, memory];
}

async function medianMemory(directory: string): Promise<number> {
  const figures: number[] = [];
  for (let round = 0; round < 3; round += 1) figures.push((await run(directory, 'ours')).rssMiB);
  return median(figures);
}

async function run(
  directory: string,
  mode: 'ours' | 'all' | 'rebuild' | 'bare',
): Promise<z.infer<typeof outcome>> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, directory, mode]);
  return outcome.parse(JSON.parse(stdout));
}
