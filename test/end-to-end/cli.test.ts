import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { asObject, textOf } from '../support/clients/service-client.js';
import { cli, freePort, runCli, givenDirectory, givenService } from '../support/servers/service-process.js';

test('A command without a data directory fails with a sentence and makes none', async (t) => {
  // Given a path that does not exist, and an empty directory
  const data = givenDirectory(t);
  const missing = join(data, 'missing');
  const empty = join(data, 'empty');
  mkdirSync(empty);
  // When a command other than serve runs
  const [onMissing, onEmpty] = await Promise.all([
    runCli(missing, ['keys', 'rewrap']),
    runCli(empty, ['node', 'list']),
  ]);
  // Then it fails, and makes neither a directory nor a file
  t.is(onMissing.code, 1);
  t.regex(onMissing.stderr, /the data directory \S+missing does not exist; set DATA_DIR/);
  t.is(onEmpty.code, 1);
  t.regex(onEmpty.stderr, /the data directory \S+empty has no events\.db and no state\.db; set DATA_DIR/);
  t.false(existsSync(missing));
  t.deepEqual(readdirSync(empty), []);
});

test('A KEYS_FILE whose path the system refuses ends a command with a sentence', async (t) => {
  const data = givenDirectory(t);
  const loop = join(data, 'loop');
  symlinkSync(loop, loop);
  for (const name of ['events.db', 'state.db']) writeFileSync(join(data, name), '');
  const environment = { MONGODB_URL: 'mongodb://127.0.0.1:1/stowage', KEYS_FILE: loop };
  const { code, stderr } = await runCli(data, ['user', 'list'], environment);
  t.is(code, 1, stderr);
  t.regex(stderr, /^stowage: \S+loop cannot be read \(ELOOP\); make it readable for this user$/m);
});

test('A start that ends by a defect or by an address that the system refuses ends with 1', async (t) => {
  const start = async (environment: Readonly<Record<string, string>>) =>
    runCli(givenDirectory(t), ['serve'], { PORT: String(await freePort()), ...environment });
  // When no server can listen, then a supervisor learns that the start failed
  const broken =
    'import net from "node:net"; net.Server.prototype.listen = () => { throw new TypeError("x"); };';
  const defect = await start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(broken)}` });
  t.is(defect.code, 1, defect.stdout);
  t.regex(defect.stdout, /"msg":"a defect"/);
  // and a link-local address without its zone is named
  const address = await start({ HOST: 'fe80::1' });
  t.is(address.code, 1, address.stdout);
  t.regex(address.stderr, /^stowage: .*fe80::1/m);
});

test('A command whose result has no reader says so, and its change is made', async (t) => {
  const file = join(givenDirectory(t), 'keys.json');
  const child = spawn(process.execPath, [cli, 'keys', 'init', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const [stderr, [code]] = await Promise.all([text(child.stderr), ended]);
  t.is(stderr, 'stowage: standard output cannot be written (EPIPE)\n');
  t.is(code, 1);
  t.true(existsSync(file));
});

test('A path too long for the control socket is named, and is no failure to try again', async (t) => {
  const data = join(givenDirectory(t), 'a'.repeat(120));
  const { code, stderr } = await runCli(data, ['user', 'list']);
  t.is(code, 1, stderr);
  t.regex(stderr, /the path of the control socket is too long: .*choose a shorter DATA_DIR/);
});

test('Commands print text, and with --json JSON; a refusal ends with 1 and a malformed value with 2', async (t) => {
  // Given a service, which spares each command the opening of the stores, with a node
  const data = givenDirectory(t);
  const run = (...args: string[]) => runCli(data, args);
  const service = await givenService(t, { directory: data });
  const added = await run('node', 'add', '--name', 'edge-1', '--address', '192.0.2.10');
  t.is(added.code, 0, added.stderr);
  // When a command prints, then a person reads text, and a script reads JSON before or after the command
  const text = await run('node', 'list');
  t.is(text.code, 0, text.stderr);
  t.regex(text.stdout, /name: edge-1|name .*\n.*edge-1/);
  const json = await run('--json', 'node', 'list');
  t.is(json.code, 0, json.stderr);
  t.like(JSON.parse(json.stdout), { items: [{ name: 'edge-1', ip_address: '192.0.2.10' }] });
  // and refusals say so by the exit code
  const refused = await run('user', 'verify', 'nobody@example.org', '--json');
  t.is(refused.code, 1);
  t.is(refused.stdout, '');
  // Lines of the log may stand before and after it.
  const lines = refused.stderr
    .trim()
    .split('\n')
    .map((line) => asObject(JSON.parse(line)));
  const problem = lines.find((line) => 'code' in line) ?? {};
  t.is(textOf(problem, 'code'), 'user_not_found');
  t.regex(textOf(problem, 'message'), /there is no account with this address/);
  t.is((await run('user', 'erase', 'nobody')).code, 2);
  // and a command opens the stores itself when no service runs
  t.is(await service.stop(), 0);
  const alone = await run('node', 'add', '--name', 'edge-2', '--address', '192.0.2.11');
  t.is(alone.code, 0, alone.stderr);
});
