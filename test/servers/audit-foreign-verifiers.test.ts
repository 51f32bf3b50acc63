/*
 * Holds exports of the audit log against verifiers that are not the service's: tessera's fsck, which Go builds, and the
 * program of docs/audit.md#another-verifier-in-python. The suite reports by name which of them cannot run here.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { runVerifier } from '../../src/areas/audit/verify.js';
import { bytesOf, joinLines, linesOf, withFiles, withForgedAmount } from '../support/audit/altered-export.js';
import {
  auditOrigin,
  exportFilesOf,
  type ExportFiles,
  givenAuditEvents,
  givenLogKey,
  writeExport,
} from '../support/audit/audit-export.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { succeeds } from '../support/servers/foreign-programs.js';

interface Result {
  readonly ended: 'well' | 'badly';
  readonly text: string;
}

/** Verifies the export in a folder. */
type ForeignVerifier = (folder: string) => Promise<Result>;

const root = mkdtempSync(join(tmpdir(), 'audit-foreign-'));
const key = join(root, 'auditor.vkey');
writeFileSync(key, `${givenLogKey().vkey}\n`);
test.after.always(() => rmSync(root, { recursive: true, force: true }));

/** Runs a verifier within a time limit. */
function start(command: string, args: readonly string[], seconds: number): Promise<Result> {
  return new Promise((done) => {
    const limits = { timeout: seconds * 1000, killSignal: 'SIGKILL' } as const;
    execFile(command, args, limits, (error, stdout, stderr) => {
      done({ ended: error === null ? 'well' : 'badly', text: `${stdout}${stderr}${error?.message ?? ''}` });
    });
  });
}

/** Builds fsck. Compiling takes a minute or more where its modules are not cached. All preparations fit into AVA's 5 minutes. */
function buildFsck(): ForeignVerifier | null {
  const module = 'github.com/transparency-dev/tessera/cmd/fsck@v1.0.4';
  if (!succeeds('go', ['install', module], 170, { env: { GOBIN: root, CGO_ENABLED: '0' } })) return null;
  return (folder) => {
    const where = [`--storage_url=file://${folder}/`, `--public_key=${key}`];
    // With one worker it waits for ever at a wrong tile.
    return start(join(root, 'fsck'), [...where, '--ui=false', '--logtostderr', '-N', '64'], 120);
  };
}

/** Makes an environment with the packages that the document names, for the program of the examples. */
function installPython(): ForeignVerifier | null {
  const document = readFileSync(fileURLToPath(new URL('../../../docs/audit.md', import.meta.url)), 'utf8');
  const program = readFileSync(
    fileURLToPath(new URL('../../../examples/verify-log.py', import.meta.url)),
    'utf8',
  );
  const [, packages] = /pip install (.*)$/m.exec(document) ?? [];
  if (packages === undefined) throw new Error('docs/audit.md names no packages of Python');
  writeFileSync(join(root, 'verify.py'), program);
  const venv = join(root, 'venv');
  const python = join(venv, 'bin', 'python');
  if (!succeeds('python3', ['-m', 'venv', venv], 40)) return null;
  if (!succeeds(python, ['-m', 'pip', 'install', '--quiet', ...packages.split(' ')], 60)) return null;
  return (folder) => start(python, [join(root, 'verify.py'), folder, key], 240);
}

const [fsck, python] = [buildFsck(), installPython()];

const sizes = [1, 255, 256, 257, 65_536, 70_000];
const events = givenAuditEvents(makeSeededRandom(20_260_102), Math.max(...sizes));
const intact: ReadonlyMap<number, string> = new Map(
  sizes.map((size) => [size, folderOf(exportFilesOf(events.slice(0, size)))]),
);

function folderOf(files: ExportFiles): string {
  const folder = mkdtempSync(join(root, 'export-'));
  writeExport(folder, files);
  return folder;
}

/** An export of two tiles, tampered with. */
const small = events.slice(0, 257);
const files = exportFilesOf(small);
const forged = exportFilesOf(withForgedAmount(small, 7));
const along = (...paths: readonly string[]): ExportFiles =>
  withFiles(files, Object.fromEntries(paths.map((path) => [path, bytesOf(forged, path)])));

/** In what each verifier finds it: fsck does not read events, and the Python program does not read tiles. */
const tampered: readonly {
  readonly name: string;
  readonly files: ExportFiles;
  readonly by: readonly ('fsck' | 'python')[];
}[] = [
  { name: 'an event', files: along('events/000'), by: ['python'] },
  { name: 'an entry', files: along('tile/entries/000'), by: ['fsck'] },
  { name: 'a tile', files: along('tile/0/000'), by: ['fsck'] },
  {
    name: 'an event with its tile',
    files: along('events/000', 'tile/entries/000', 'tile/0/000'),
    by: ['fsck', 'python'],
  },
  { name: 'a level above', files: along('tile/1/000.p/1'), by: ['fsck'] },
  {
    name: 'all but the checkpoint',
    files: along(...[...files.keys()].filter((path) => path !== 'checkpoint')),
    by: ['fsck', 'python'],
  },
  { name: 'the checkpoint', files: along('checkpoint'), by: ['fsck', 'python'] },
  {
    name: 'a checkpoint of a stranger',
    files: exportFilesOf(small, [givenLogKey(auditOrigin, 2)]),
    by: ['fsck', 'python'],
  },
  {
    name: 'a removed event',
    files: withFiles(files, { 'events/000': joinLines(linesOf(files, 'events/000').slice(1)) }),
    by: ['python'],
  },
  {
    name: 'a member that stands twice',
    files: withFiles(files, {
      'events/000': bytesOf(files, 'events/000').toString().replace('"data":{', '"data":{"name":"forged",'),
    }),
    by: ['python'],
  },
];

const ours: ForeignVerifier = async (folder) => {
  const lines: string[] = [];
  const code = await runVerifier([folder, '--key', key], (line) => lines.push(line));
  return { ended: code === 0 ? 'well' : 'badly', text: lines.join('\n') };
};

const rootIn = (folder: string): string =>
  readFileSync(join(folder, 'checkpoint'), 'utf8').split('\n')[2] ?? '';

/** fsck exits with 0 after a failure, so its last line decides. */
const fsckAccepts = ({ text }: Result): boolean => text.includes("Successfully fsck'd log with size ");

test('The verifier accepts the intact exports of all sizes, and no tampered one', async (t) => {
  t.timeout(300_000);
  for (const [size, folder] of intact) t.is((await ours(folder)).ended, 'well', `${size} events`);
  for (const { name, files: own } of tampered) t.is((await ours(folderOf(own))).ended, 'badly', name);
});

// The output names what did not run, and why.
const withFsck = fsck === null ? test.skip : test;
const withPython = python === null ? test.skip : test;

withFsck('Fsck of tessera, where Go can build it, agrees with the verifier', async (t) => {
  t.timeout(300_000);
  if (fsck === null) return;
  for (const [size, folder] of intact) {
    const result = await fsck(folder);
    t.true(
      fsckAccepts(result) && result.text.includes(`size ${size} and root ${rootIn(folder)}`),
      `${size} events: ${result.text}`,
    );
  }
  for (const { name, files: own, by } of tampered) {
    const result = await fsck(folderOf(own));
    t.is(fsckAccepts(result), !by.includes('fsck'), `${name}: ${result.text}`);
  }
});

withPython(
  'The program in Python of the auditors’ guide, where PyPI has its packages, agrees with the verifier',
  async (t) => {
    t.timeout(300_000);
    if (python === null) return;
    for (const [size, folder] of intact) {
      const { ended, text } = await python(folder);
      t.is(ended, 'well', text);
      t.true(text.startsWith(`VERIFIED: ${size} events of ${auditOrigin}, root ${rootIn(folder)}`), text);
    }
    for (const { name, files: own, by } of tampered) {
      const { ended, text } = await python(folderOf(own));
      t.is(ended, by.includes('python') ? 'badly' : 'well', `${name}: ${text}`);
    }
  },
);
