import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { runVerifier, verifyExport } from '../../src/audit/verify/verify.js';
import { bytesOf, joinLines, linesOf, withFiles } from '../support/audit/altered-export.js';
import {
  exportFilesOf,
  type ExportFiles,
  givenAuditEvents,
  givenLogKey,
  memorySource,
  writeExport,
} from '../support/audit/audit-export.js';
import { makeSeededRandom } from '../support/fakes/clock.js';

const { vkey } = givenLogKey();
const program = fileURLToPath(new URL('../../src/audit/verify/verify.js', import.meta.url));

/** Two full tiles and a partial one. */
const events = givenAuditEvents(makeSeededRandom(600), 600);
const files: ExportFiles = exportFilesOf(events);

type Options = Partial<Parameters<typeof verifyExport>[1]>;
const verdictOf = (of: ExportFiles, options: Options = {}): ReturnType<typeof verifyExport> =>
  verifyExport(memorySource(of), { keys: vkey, ...options });

function givenFolder(t: ExecutionContext, of: ExportFiles = files): string {
  const folder = mkdtempSync(join(tmpdir(), 'audit-verify-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  writeExport(folder, of);
  writeFileSync(join(folder, 'log.vkey'), `# the key of the log\n${vkey}\n`);
  return folder;
}

async function run(...args: string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const code = await runVerifier(args, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
}

test('A part of a log is unchanged, and its completeness is not shown', async (t) => {
  // Given the events of one stream, without entries
  const { stream } = events[300] ?? { stream: '' };
  const part = new Map(
    [...files].filter(([path]) => !path.startsWith('tile/entries') && !path.startsWith('events')),
  );
  for (const [n, path] of ['events/000', 'events/001', 'events/002.p/88'].entries()) {
    const lines = linesOf(files, path).filter((_, at) => events[n * 256 + at]?.stream === stream);
    if (lines.length > 0) part.set(path, Buffer.from(joinLines(lines)));
  }
  // Then it is verified only where the auditor says that it is a part
  t.is((await verdictOf(part, { part: true })).problems, 0);
  t.true((await verdictOf(part)).problems > 0);
  // And a changed event in it is found
  const text = bytesOf(part, 'events/001').toString();
  const { places } = await verdictOf(withFiles(part, { 'events/001': text.replace('"name":', '"nam":') }), {
    part: true,
  });
  t.deepEqual(
    places.map(({ path, stream: of }) => [path, of]),
    [['events/001', stream]],
  );
  const folder = givenFolder(t, part);
  t.regex(
    (await run(folder, '--key', join(folder, 'log.vkey'), '--part')).text,
    /^UNCHANGED.*Completeness is not shown/,
  );
});

test('A folder with links, devices, folders in place of files and further files ends with a verdict', async (t) => {
  const folder = givenFolder(t);
  const key = join(folder, 'log.vkey');
  t.is((await run(folder, '--key', key)).code, 0);
  // Given files that no checkpoint covers
  mkdirSync(join(folder, 'tile/7'));
  writeFileSync(join(folder, 'tile/7/000'), 'no tile');
  writeFileSync(join(folder, 'events/\u001b[2J'), '');
  const extra = await run(folder, '--key', key);
  t.is(extra.code, 0);
  t.regex(extra.text, /Not read: 2 files/);
  t.false(extra.text.includes('\u001b'));
  // Given a link in place of a tile, to a copy, to a device, and to itself
  const tile = join(folder, 'tile/0/000');
  copyFileSync(tile, join(folder, 'copy'));
  for (const target of [join(folder, 'copy'), '/dev/zero', tile, join(folder, 'gone')]) {
    rmSync(tile);
    symlinkSync(target, tile);
    const { code, text } = await run(folder, '--key', key);
    t.is(code, 1, target);
    t.regex(text, /tile\/0\/000: it is (no plain file|missing)/);
  }
  rmSync(tile);
  mkdirSync(tile);
  t.regex((await run(folder, '--key', key)).text, /tile\/0\/000: it is no plain file/);
});

test('The program ends with 0, 1 or 2, and prints no stack', async (t) => {
  const folder = givenFolder(t);
  const key = join(folder, 'log.vkey');
  const wrong = givenFolder(
    t,
    withFiles(files, { 'events/001': joinLines(linesOf(files, 'events/001').slice(1)) }),
  );
  const start = (...args: string[]): Promise<{ readonly code: unknown; readonly text: string }> =>
    new Promise((done) => {
      execFile(process.execPath, [program, ...args], (error, stdout, stderr) => {
        done({ code: error === null ? 0 : error.code, text: `${stdout}${stderr}` });
      });
    });
  const good = await start(folder, '--key', key);
  t.is(good.code, 0, good.text);
  t.regex(good.text, /^VERIFIED: 600 events of "stowage\/2f1c9a4e", root .*\n.*\nTime: .*\n.*\nFirst time: /);
  const again = await start(folder, '--key', key, '--kept', folder, '--kept', join(folder, 'checkpoint'));
  t.regex(again.text, /Kept: the log begins with the 600 events/);
  const bad = await start(wrong, '--key', key);
  t.is(bad.code, 1, bad.text);
  t.true(
    bad.text.includes(
      `- event 256, stream "${events[256]?.stream}", revision ${events[256]?.revision}, events/001: its line is missing`,
    ),
    bad.text,
  );
  const unusable = [
    [],
    [folder],
    [folder, folder, '--key', key],
    [folder, '--key', join(folder, 'tile')],
    [folder, '--key', join(folder, 'checkpoint')],
    [join(folder, 'gone'), '--key', key],
    [folder, '--key', key, '--quorum', '1'],
    [folder, '--key', key, '--witness', key],
    [folder, '--key', key, '--kept', key],
    [folder, '--key', key, '--wrong'],
    ['http://example.org', '--key', key, '--token', key],
  ];
  const replies = await Promise.all(unusable.map((args) => run(...args)));
  for (const [at, { code, text }] of replies.entries()) {
    t.is(code, 2, unusable[at]?.join(' '));
    t.regex(text, /^No verdict: /);
  }
  t.notRegex([good, bad, ...replies].map(({ text }) => text).join('\n'), /\n\s+at /);
});

test('The live service is verified over HTTP, with its token', async (t) => {
  const folder = givenFolder(t);
  const key = join(folder, 'log.vkey');
  const answers: ((path: string) => Buffer | number)[] = [];
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    const path = (request.url ?? '').replace('/audit/log/', '');
    asked.push(request.headers.authorization ?? 'no token');
    const answer = answers.at(-1)?.(path) ?? 500;
    if (typeof answer === 'number')
      reply.writeHead(answer, { 'retry-after': '0.01', location: '/elsewhere' }).end();
    else reply.end(answer);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit/log/`;
  const token = join(folder, 'token');
  writeFileSync(token, 'let-me-read\n');
  const verify = (answer: (path: string) => Buffer | number) => {
    answers.push(answer);
    return run(url, '--key', key, '--token', token);
  };
  // Given a service that has everything, but is busy at first
  const busy = new Set<string>();
  const good = await verify((path) => (busy.size === busy.add(path).size ? (files.get(path) ?? 404) : 429));
  t.is(good.code, 0, good.text);
  t.deepEqual([...new Set(asked)], ['Bearer let-me-read']);
  // Then an absent, a long and a forged file are places, and other answers allow no verdict
  t.regex(
    (await verify((path) => (path === 'tile/0/001' ? 404 : (files.get(path) ?? 404)))).text,
    /tile\/0\/001: it is missing/,
  );
  t.regex(
    (await verify((path) => (path === 'tile/0/001' ? Buffer.alloc(9000) : (files.get(path) ?? 404)))).text,
    /tile\/0\/001: it has more than 8192 bytes/,
  );
  for (const status of [302, 401, 403, 500]) {
    const { code, text } = await verify((path) =>
      path === 'tile/0/001' ? status : (files.get(path) ?? 404),
    );
    t.is(code, 2, `${status}: ${text}`);
    t.false(text.includes('let-me-read'));
  }
});
