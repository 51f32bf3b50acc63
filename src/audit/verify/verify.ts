#!/usr/bin/env node
// Verifies an export of the audit log: docs/audit.md#how-an-auditor-works. The files of this folder import nothing else
// of ours, so that they and the log are two implementations of the same formats.
import { realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isCount, most, messageOf, shown, Unusable } from './basics.js';
import { folderSource, type VerifierSource, webSource } from './sources.js';
import { verifyExport, type VerifierVerdict } from './verify-export.js';

export { verifyExport };

function* sentencesOf(verdict: VerifierVerdict, part: boolean, keptCount: number): Generator<string> {
  const { problems, places, size, agreed, extras } = verdict;
  const of = `${size} events of ${shown(verdict.origin)}, root ${verdict.root}`;
  if (problems > 0) yield `NOT VERIFIED: ${problems} problems. The checkpoint says: ${of}`;
  else if (part)
    yield `UNCHANGED: the events in this export are those of a log of ${of}. Completeness is not shown.`;
  else yield `VERIFIED: ${of}`;
  for (const { path, what, first, last, stream, revision } of places) {
    const events =
      first === undefined
        ? ''
        : first === last
          ? `event ${first}, `
          : `events ${first} to ${last ?? first}, `;
    yield `- ${events}${stream === undefined ? '' : `stream ${shown(stream)}, revision ${revision ?? 0}, `}${path}: ${what}`;
  }
  if (problems > places.length) yield `- and ${problems - places.length} more`;
  yield `Signed by: ${verdict.signers.map(shown).join(', ') || 'no known key'}`;
  if (verdict.witnesses.length > 0) yield `Cosigned by: ${verdict.witnesses.map(shown).join(', ')}`;
  if (verdict.from !== null) yield `Time: ${verdict.from} to ${verdict.until ?? ''}`;
  yield `Streams: ${verdict.streams}, their revisions ${problems > 0 ? 'compared' : 'without a gap'}`;
  if (verdict.unchecked > 0)
    yield `The revisions of ${verdict.unchecked} events of further streams were not compared.`;
  if (keptCount === 0)
    yield 'First time: nothing was kept, so this shows no change that came before. Keep this checkpoint.';
  else if (agreed !== null)
    yield `Kept: the log still begins with the ${agreed} events of the kept checkpoint.`;
  if (extras.length > 0)
    yield `Not read, for the checkpoint covers no such file: ${extras.slice(0, 10).map(shown).join(', ')}${extras.length > 10 ? ', …' : ''}`;
}

async function readArgument(path: string, limit: number): Promise<Buffer> {
  if ((await stat(path)).size > limit) throw new Unusable(`${path} is too long`);
  return readFile(path);
}

async function keptOf(
  path: string,
): Promise<{ readonly checkpoint: Buffer; readonly source?: VerifierSource }> {
  if (!(await stat(path)).isDirectory()) return { checkpoint: await readArgument(path, most.note) };
  return {
    checkpoint: await readArgument(join(path, 'checkpoint'), most.note),
    source: await folderSource(path),
  };
}

const usage =
  'stowage-verify <folder or URL> --key <vkey file> [--kept <checkpoint or older export>]… [--witness <vkey file> --quorum <n>] [--token <file>] [--part]';

/** Runs the command line. Returns the exit code: 0 verified, 1 not, 2 no verdict. */
export async function runVerifier(
  args: readonly string[],
  print: (line: string) => void,
): Promise<0 | 1 | 2> {
  try {
    const text = { type: 'string' } as const;
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        key: text,
        kept: { type: 'string', multiple: true },
        witness: text,
        quorum: text,
        token: text,
        part: { type: 'boolean' },
      },
    });
    const [from, ...more] = positionals;
    if (from === undefined || more.length > 0 || values.key === undefined) throw new Unusable(usage);
    const quorum = values.quorum === undefined ? undefined : Number(values.quorum);
    if (quorum !== undefined && !(isCount(quorum) && values.witness !== undefined)) throw new Unusable(usage);
    const token =
      values.token === undefined ? null : (await readArgument(values.token, 65_536)).toString().trim();
    const kept = await Promise.all((values.kept ?? []).map(keptOf));
    const witnesses =
      values.witness === undefined
        ? {}
        : {
            witnesses: {
              keys: (await readArgument(values.witness, most.note)).toString(),
              ...(quorum === undefined ? {} : { quorum }),
            },
          };
    const keys = (await readArgument(values.key, most.note)).toString();
    const source = /^https?:/.test(from) ? webSource(from, token) : await folderSource(from);
    const verdict = await verifyExport(source, { keys, kept, part: values.part ?? false, ...witnesses });
    for (const line of sentencesOf(verdict, values.part ?? false, kept.length)) print(line);
    return verdict.problems === 0 ? 0 : 1;
  } catch (error) {
    print(`No verdict: ${messageOf(error)}`);
    return 2;
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await runVerifier(process.argv.slice(2), console.log);
}
