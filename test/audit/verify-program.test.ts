import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { runVerifier } from '../../src/audit/verify/verify.js';
import { joinLines, linesOf, withFiles } from '../support/audit/altered-export.js';
import {
  exportFilesOf,
  type ExportFiles,
  givenAuditEvents,
  givenLogKey,
  writeExport,
} from '../support/audit/audit-export.js';
import { makeSeededRandom } from '../support/fakes/clock.js';

const { vkey } = givenLogKey();
const program = fileURLToPath(new URL('../../src/audit/verify/verify.js', import.meta.url));

/** Two full tiles and a partial one. */
const events = givenAuditEvents(makeSeededRandom(600), 600);
const files: ExportFiles = exportFilesOf(events);

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

test('A folder with links, devices, folders in place of files and further files ends with a verdict', async (t) => {
  const folder = givenFolder(t);
  const key = join(folder, 'log.vkey');
  t.is((await run(folder, '--key', key)).code, 0);
  // Given a file that no checkpoint covers
  mkdirSync(join(folder, 'tile/7'));
  writeFileSync(join(folder, 'tile/7/000'), 'no tile');
  t.is((await run(folder, '--key', key)).code, 0);
  // Given a link in place of a tile, to a copy, to a device, and to itself
  const tile = join(folder, 'tile/0/000');
  copyFileSync(tile, join(folder, 'copy'));
  for (const target of [join(folder, 'copy'), '/dev/zero', tile, join(folder, 'gone')]) {
    rmSync(tile);
    symlinkSync(target, tile);
    const { code, text } = await run(folder, '--key', key);
    t.is(code, 1, target);
    t.regex(text, /tile\/0\/000: it is no plain file/);
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
  t.regex(good.text, /^Log: 600 events of "stowage\/2f1c9a4e", root .*\nFirst time: .*\nVERIFIED\n$/);
  for (const kept of [folder, join(folder, 'checkpoint')])
    t.regex((await start(folder, '--key', key, '--kept', kept)).text, /Kept: 600 events\nVERIFIED\n$/);
  const bad = await start(wrong, '--key', key);
  t.is(bad.code, 1, bad.text);
  t.true(bad.text.includes('- events/001, event 256: its line has the index 257'), bad.text);
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
    [folder, '--key', key, '--kept', join(folder, 'gone')],
    [folder, '--key', key, '--wrong'],
    ['http://example.org', '--key', key, '--token', key],
    ['http://localhost:80@example.org/', '--key', key, '--token', key],
    ['http://127.0.0.1.example.org:80/', '--key', key, '--token', key],
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
    if (typeof answer === 'number') reply.writeHead(answer, { location: '/elsewhere' }).end();
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
  // Given a service that has everything
  const good = await verify((path) => files.get(path) ?? 404);
  t.is(good.code, 0, good.text);
  t.deepEqual([...new Set(asked)], ['Bearer let-me-read']);
  // Then an absent, a long and a forged file are places, and other answers allow no verdict
  t.regex(
    (await verify((path) => (path === 'tile/0/001' ? 404 : (files.get(path) ?? 404)))).text,
    /tile\/0\/001: it is missing/,
  );
  t.regex(
    (await verify((path) => (path === 'tile/0/001' ? Buffer.alloc(9000) : (files.get(path) ?? 404)))).text,
    /tile\/0\/001: it is too long/,
  );
  for (const status of [302, 401, 403, 429, 500]) {
    const { code, text } = await verify((path) =>
      path === 'tile/0/001' ? status : (files.get(path) ?? 404),
    );
    t.is(code, 2, `${status}: ${text}`);
    t.false(text.includes('let-me-read'));
  }
});
