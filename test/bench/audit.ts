import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { withLog } from './logs.js';
import { type Comparison, describe, median } from './measure.js';
import { packageFile } from '../../src/package-files.js';
import { benchPaymentsWithAudit } from './payments.js';

const child = fileURLToPath(new URL('./audit-child.js', import.meta.url));
const reportUsage = fileURLToPath(new URL('./report-usage.js', import.meta.url));
const verifier = fileURLToPath(packageFile('dist/verify.js'));
const someEvents = 100_000;
const manyEvents = 1_000_000;
const rounds = 3;

const numbers = z.record(z.string(), z.number());

/** Measures what the audit log costs the service, and what its readers wait for (docs/benchmarks.md#benchmarks). */
export async function benchAudit(): Promise<readonly Comparison[]> {
  const costs = await withEvents(someEvents, benchCosts);
  const live = await withLog(0, benchLive);
  const payments = await benchPaymentsWithAudit();
  const readers = await withEvents(manyEvents, benchReaders);
  return [...costs, ...live, payments, ...readers];
}

function withEvents<Result>(
  events: number,
  measure: (directory: string) => Promise<Result>,
): Promise<Result> {
  return withLog(0, async (directory) => {
    await run('fill', directory, String(events));
    return measure(directory);
  });
}

async function benchCosts(directory: string): Promise<readonly Comparison[]> {
  const cpu: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { cpuSeconds: reading = Number.NaN } = await run('read', directory);
    const sequenced = await run('sequence', directory);
    cpu.push((((sequenced['cpuSeconds'] ?? Number.NaN) - reading) / someEvents) * 1e6);
    bytes = (sequenced['bytes'] ?? Number.NaN) / someEvents;
  }
  return [
    against(40, 'atMost', { what: 'audit log: CPU of an event', unit: 'µs', ours: median(cpu) }),
    against(100, 'atMost', { what: 'audit log: stored for an event', unit: 'bytes', ours: bytes }),
  ];
}

async function benchLive(directory: string): Promise<readonly Comparison[]> {
  const { integratedSeconds = Number.NaN, signedSeconds = Number.NaN } = await run('live', directory);
  const at = 'at 1,000 appends/s';
  return [
    against(2, 'atMost', { what: `audit log ${at}: wait for a tile`, unit: 's', ours: integratedSeconds }),
    against(12, 'atMost', { what: `audit log ${at}: wait for a checkpoint`, unit: 's', ours: signedSeconds }),
  ];
}

async function benchReaders(directory: string): Promise<readonly Comparison[]> {
  await run('sequence', directory);
  const { seconds = Number.NaN, found } = await run('search', directory);
  if (found !== 1) throw new Error(`${found} events of the rare actor are found`);
  const many = await verified(directory);
  const few = await withEvents(someEvents, async (other) => {
    await run('sequence', other);
    return verified(other);
  });
  const all = manyEvents.toLocaleString('en');
  const memory: Comparison = {
    what: `memory of the verifier on ${all} events`,
    anchor: `on ${someEvents.toLocaleString('en')}`,
    unit: 'MiB',
    ours: many.rssMiB,
    anchors: few.rssMiB,
    ratio: many.rssMiB / few.rssMiB,
    goal: { atMost: 1.5 },
  };
  process.stdout.write(`${describe(memory)}\n`);
  return [
    against(2, 'atMost', { what: `search for a rare actor in ${all} events`, unit: 's', ours: seconds }),
    against(17_000, 'atLeast', {
      what: `verifier, ${all} events, one core`,
      unit: 'events/s',
      ours: manyEvents / many.cpuSeconds,
    }),
    memory,
  ];
}

/** Exports the signed log and verifies it in a separate process. */
async function verified(
  directory: string,
): Promise<{ readonly cpuSeconds: number; readonly rssMiB: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-bench-export-'));
  try {
    await run('export', directory, folder);
    const { stderr } = await promisify(execFile)(process.execPath, [
      ...['--import', reportUsage, verifier, folder, '--key', join(folder, 'log.vkey')],
    ]);
    return z.object({ cpuSeconds: z.number(), rssMiB: z.number() }).parse(JSON.parse(stderr));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Compares a figure with a fixed goal. */
function against(
  goal: number,
  bound: 'atLeast' | 'atMost',
  figure: Pick<Comparison, 'what' | 'unit' | 'ours'>,
): Comparison {
  const comparison: Comparison = {
    ...figure,
    ...{ anchor: 'the goal', anchors: goal, ratio: figure.ours / goal },
    goal: bound === 'atLeast' ? { atLeast: 1 } : { atMost: 1 },
  };
  process.stdout.write(`${describe(comparison)}\n`);
  return comparison;
}

async function run(mode: string, directory: string, argument = ''): Promise<z.output<typeof numbers>> {
  const { stdout } = await promisify(execFile)(process.execPath, [child, directory, mode, argument]);
  return numbers.parse(JSON.parse(stdout));
}
