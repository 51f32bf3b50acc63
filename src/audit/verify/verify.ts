#!/usr/bin/env node
// Verifies an export of the audit log: docs/audit.md#how-an-auditor-works. The files of this folder import nothing else
// of ours, so that they and the log are two implementations of the same formats.
import { realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isCount, messageOf, verifierBounds, Unusable } from './basics.js';
import { folderSource, webSource } from './sources.js';
import { verdictLines } from './verdict-text.js';
import { verifyExport, type VerifierOptions } from './verify-export.js';

export { verifyExport };

const usage = `usage: stowage-verify <folder or URL> --key <vkey file> [--kept <checkpoint or older export>]…
       [--witness <vkey file> [--quorum <n>]] [--token <file>] [--part]`;

const text = { type: 'string' } as const;
const options = {
  key: text,
  kept: { type: 'string', multiple: true },
  witness: text,
  quorum: text,
  token: text,
  part: { type: 'boolean' },
} as const;

/**
 * Runs the command line, and prints the verdict. Returns the exit code: 0 where the export is verified, 1 where it is
 * not, 2 where the input allows no verdict.
 */
export async function runVerifier(
  args: readonly string[],
  print: (line: string) => void,
): Promise<0 | 1 | 2> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [from, ...more] = positionals;
    if (from === undefined || more.length > 0 || values.key === undefined) throw new Unusable(usage);
    const given: VerifierOptions = {
      keys: await readText(values.key),
      kept: await Promise.all((values.kept ?? []).map(readKeptArgument)),
      part: values.part ?? false,
      ...(await readWitnesses(values)),
    };
    const token = values.token === undefined ? null : (await readText(values.token)).trim();
    const source = /^https?:/.test(from) ? webSource(from, token) : await folderSource(from);
    const verdict = await verifyExport(source, given);
    for (const line of verdictLines(verdict, given)) print(line);
    return verdict.problems === 0 ? 0 : 1;
  } catch (error) {
    print(`No verdict: ${messageOf(error)}`);
    return 2;
  }
}

async function readWitnesses({
  witness,
  quorum,
}: {
  readonly witness?: string;
  readonly quorum?: string;
}): Promise<Pick<VerifierOptions, 'witnesses'>> {
  if (witness === undefined && quorum === undefined) return {};
  const count = Number(quorum ?? 1);
  if (witness === undefined || !isCount(count) || count === 0) throw new Unusable(usage);
  return { witnesses: { keys: await readText(witness), ...(quorum === undefined ? {} : { quorum: count }) } };
}

async function readKeptArgument(path: string): Promise<NonNullable<VerifierOptions['kept']>[number]> {
  if (!(await stat(path)).isDirectory()) return { checkpoint: await readArgument(path) };
  return { checkpoint: await readArgument(join(path, 'checkpoint')), source: await folderSource(path) };
}

async function readText(path: string): Promise<string> {
  return (await readArgument(path)).toString();
}

async function readArgument(path: string): Promise<Buffer> {
  const info = await stat(path);
  if (!info.isFile() || info.size > verifierBounds.note)
    throw new Unusable(`${path} is no file of at most ${verifierBounds.note} bytes`);
  return readFile(path);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await runVerifier(process.argv.slice(2), console.log);
}
