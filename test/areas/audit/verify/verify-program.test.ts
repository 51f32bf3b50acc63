import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { packageFile } from '../../../../src/package-files.js';
import { runVerifier } from '../../../../src/areas/audit/verify.js';
import { joinLines, linesOf, withFiles } from '../../../support/audit/altered-export.js';
import {
  exportFilesOf,
  type ExportFiles,
  givenAuditEvents,
  givenLogKey,
  givenWitness,
  writeExport,
} from '../../../support/audit/audit-export.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';

const { vkey } = givenLogKey();
const program = fileURLToPath(packageFile('dist/verify.js'));

/** A full tile and a partial one. */
const events = givenAuditEvents(makeSeededRandom(300), 300);
const files: ExportFiles = exportFilesOf(events);

function givenFolder(t: ExecutionContext, of: ExportFiles = files): string {
  const folder = mkdtempSync(join(tmpdir(), 'audit-verify-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
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

test('A key behind a space or a byte order mark is refused, so that no witness is left out silently', async (t) => {
  const one = givenWitness('witness.example/a', 11);
  const other = givenWitness('witness.example/b', 12);
  const folder = givenFolder(t, exportFilesOf(events, undefined, { witnesses: [one] }));
  const [key, witnesses] = [join(folder, 'log.vkey'), join(folder, 'witnesses.vkey')];
  const verified = (text: string) => {
    writeFileSync(witnesses, text);
    return run(folder, '--key', key, '--witness', witnesses);
  };
  t.is((await verified(`# one\n \t\n  # indented\n\n${one.vkey}\r\n`)).code, 0);
  t.is((await verified(`${one.vkey}\n${other.vkey}\n`)).code, 1);
  for (const before of [' ', '\t', '\u{feff}'])
    t.like(await verified(`${before}${other.vkey}\n${one.vkey}\n`), { code: 2 }, JSON.stringify(before));
});

test('The program ends with 0, 1 or 2, and prints no stack', async (t) => {
  const folder = givenFolder(t);
  const key = join(folder, 'log.vkey');
  const witness = join(folder, 'witness.vkey');
  writeFileSync(witness, givenWitness('witness.example/a', 11).vkey);
  const wrong = givenFolder(
    t,
    withFiles(files, { 'events/001.p/44': joinLines(linesOf(files, 'events/001.p/44').slice(1)) }),
  );
  const start = (...args: string[]): Promise<{ readonly code: unknown; readonly text: string }> =>
    new Promise((done) => {
      execFile(process.execPath, [program, ...args], (error, stdout, stderr) => {
        done({ code: error === null ? 0 : error.code, text: `${stdout}${stderr}` });
      });
    });
  const good = await start(folder, '--key', key);
  t.is(good.code, 0, good.text);
  t.regex(good.text, /^Log: 300 events of "stowage\/2f1c9a4e", root .*\nFirst time: .*\nVERIFIED\n$/);
  for (const kept of [folder, join(folder, 'checkpoint')])
    t.regex((await run(folder, '--key', key, '--kept', kept)).text, /Kept: 300 events\nVERIFIED$/);
  const bad = await start(wrong, '--key', key);
  t.is(bad.code, 1, bad.text);
  t.true(bad.text.includes('- events/001.p/44, event 256: its line has the index 257'), bad.text);
  const unusable = [
    [],
    [folder],
    [folder, folder, '--key', key],
    [folder, '--key', join(folder, 'tile')],
    [folder, '--key', join(folder, 'checkpoint')],
    [join(folder, 'gone'), '--key', key],
    [folder, '--key', key, '--quorum', '1'],
    [folder, '--key', key, '--witness', key],
    ...['', '0', '-1', '0.5'].map((quorum) => [
      folder,
      '--key',
      key,
      '--witness',
      witness,
      `--quorum=${quorum}`,
    ]),
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
  // A request for help gets the usage. Only alone it ends with 0, which else says that a log is verified.
  for (const help of ['--help', '-h']) {
    const { code, text } = await start(help);
    t.is(code, 0, text);
    t.regex(text, /^usage: stowage-verify <folder or URL> --key/);
    t.is((await run(help, '--key', key)).code, 2);
    t.is((await run(folder, '--key', key, help)).code, 2);
  }
  t.notRegex([good, bad, ...replies].map(({ text }) => text).join('\n'), /\n\s+at /);
});

/** What a service answers to a path: a file, a status, or a status with a `Retry-After`. */
type Answer = Buffer | number | { readonly status: number; readonly retryAfter: string };

async function givenService(t: ExecutionContext) {
  const folder = givenFolder(t);
  const key = join(folder, 'log.vkey');
  const answers: ((path: string) => Answer | undefined)[] = [];
  const asked: { readonly path: string; readonly token: string }[] = [];
  const server = createServer((request, reply) => {
    const path = (request.url ?? '').replace('/audit/log/', '');
    asked.push({ path, token: request.headers.authorization ?? 'no token' });
    const answer = answers.at(-1)?.(path) ?? files.get(path) ?? 404;
    if (Buffer.isBuffer(answer)) reply.end(answer);
    else if (typeof answer === 'number') reply.writeHead(answer, { location: '/elsewhere' }).end();
    else reply.writeHead(answer.status, { 'retry-after': answer.retryAfter }).end('wait');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit/log/`;
  const token = join(folder, 'token');
  writeFileSync(token, 'let-me-read\n');
  /** Verifies a service that answers so, and otherwise with the files of the log. */
  const verify = (answer: (path: string) => Answer | undefined) => {
    answers.push(answer);
    asked.length = 0;
    return run(url, '--key', key, '--token', token);
  };
  return { verify, asked };
}

test('The live service is verified over HTTP, with its token, by one request for 256 events', async (t) => {
  const { verify, asked } = await givenService(t);
  // Given a service that has everything
  const good = await verify(() => undefined);
  t.is(good.code, 0, good.text);
  t.deepEqual([...new Set(asked.map(({ token }) => token))], ['Bearer let-me-read']);
  // Then no tile is read whose events have the right root, and the verdict says so
  t.deepEqual(
    asked.map(({ path }) => path),
    ['checkpoint', 'tile/0/001.p/44', 'tile/1/000.p/1', 'events/000', 'events/001.p/44'],
  );
  t.regex(good.text, /^Not read: entries, and tiles /m);
  // And an absent, a long and a forged file are places, and other answers allow no verdict
  const problem = async (answer: (path: string) => Answer | undefined) => (await verify(answer)).text;
  const at =
    (wanted: string, answer: Answer) =>
    (path: string): Answer | undefined =>
      path === wanted ? answer : undefined;
  t.regex(await problem(at('events/001.p/44', 404)), /events\/001\.p\/44: it is missing/);
  t.regex(await problem(at('tile/1/000.p/1', 404)), /tile\/1\/000\.p\/1: it is missing/);
  t.regex(await problem(at('tile/1/000.p/1', Buffer.alloc(9000))), /tile\/1\/000\.p\/1: it is too long/);
  const forged = joinLines(linesOf(files, 'events/001.p/44').toSpliced(9, 1));
  t.regex(await problem(at('events/001.p/44', Buffer.from(forged))), /- events\/001\.p\/44, event 265: /);
  for (const status of [302, 401, 403, 429, 500]) {
    const { code, text } = await verify(at('events/001.p/44', status));
    t.is(code, 2, `${status}: ${text}`);
    t.false(text.includes('let-me-read'));
  }
});

test('The verifier waits as Retry-After says, and ends without a verdict where the service asks for too long a wait', async (t) => {
  const { verify, asked } = await givenService(t);
  const refusing = (times: number, retryAfter = '0', status = 429) => {
    let left = times;
    return (path: string): Answer | undefined =>
      path === 'events/001.p/44' && (left -= 1) >= 0 ? { status, retryAfter } : undefined;
  };
  const asks = (): number => asked.filter(({ path }) => path === 'events/001.p/44').length;
  for (const status of [429, 503]) {
    t.is((await verify(refusing(10, '0', status))).code, 0);
    t.is(asks(), 11);
  }
  // Then the number of waits, and their time, are bounded
  for (const [times, retryAfter, most] of [
    [1000, '0', 11],
    [1, '121', 1],
    [1, 'Wed, 21 Oct 2026 07:28:00 GMT', 1],
  ] as const) {
    const { code, text } = await verify(refusing(times, retryAfter));
    t.is(code, 2, `${retryAfter}: ${text}`);
    t.regex(text, /answers with 429/);
    t.is(asks(), most);
  }
});
