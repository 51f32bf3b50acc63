import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { version } from '../../src/version.js';
import { asObject, textOf } from '../support/clients/service-client.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { freePort, makeDataDirectory, runCli, startService } from '../support/servers/service-process.js';

test('A command without a data directory fails with a sentence and makes none', async (t) => {
  // Given a path that does not exist, and an empty directory
  const data = await makeDataDirectory();
  t.teardown(() => data.remove());
  const missing = join(data.path, 'missing');
  const empty = join(data.path, 'empty');
  mkdirSync(empty);
  for (const args of [
    ['node', 'list'],
    ['keys', 'rewrap'],
  ]) {
    // When a command other than serve runs
    const [onMissing, onEmpty] = await Promise.all([runCli(missing, args), runCli(empty, args)]);
    // Then it fails, and makes neither a directory nor a file
    t.is(onMissing.code, 1, args.join(' '));
    t.regex(onMissing.stderr, /the data directory \S+missing does not exist; set DATA_DIR/);
    t.is(onEmpty.code, 1, args.join(' '));
    t.regex(onEmpty.stderr, /the data directory \S+empty has no events\.db and no state\.db; set DATA_DIR/);
  }
  t.false(existsSync(missing));
  t.deepEqual(readdirSync(empty), []);
});

test('Wrong usage ends with 2, and help and version with 0', async (t) => {
  const data = await makeDataDirectory();
  t.teardown(() => data.remove());
  const run = (...args: string[]) => runCli(data.path, args);
  t.deepEqual(await run('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
  const help = await run('--help');
  t.is(help.code, 0);
  t.regex(help.stdout, /Usage: stowage[^]*--json/);
  for (const [args, says] of [
    [[], /Usage: stowage/],
    [['no-such-command'], /unknown command 'no-such-command'/],
    [['user', 'verify'], /missing required argument 'email'/],
    [['node', 'list', '--no-such-option'], /unknown option '--no-such-option'/],
    [['payments', 'unmatched', '--limit', 'many'], /must be a whole number/],
    [['payments', 'resolve', 'x', '--action', 'guess', '--note', 'n'], /Allowed choices are apply, dismiss/],
  ] as const) {
    const { code, stdout, stderr } = await run(...args);
    t.is(code, 2, args.join(' '));
    t.is(stdout, '');
    t.regex(stderr, says);
  }
});

test('Commands print text, and with --json JSON; a refusal ends with 1 and a malformed value with 2', async (t) => {
  // Given data with a node
  const data = await makeDataDirectory();
  t.teardown(() => data.remove());
  const run = (...args: string[]) => runCli(data.path, args);
  const closed = await startInProcess({ directory: data.path });
  await closed.close();
  const added = await run('node', 'add', '--name', 'edge-1', '--address', '192.0.2.10');
  t.is(added.code, 0, added.stderr);
  // and a service that runs, which spares each command the opening of the stores
  const service = await startService({ directory: data.path, port: await freePort() });
  t.teardown(() => service.kill());
  // When a command prints, then a person reads text, and a script reads JSON before or after the command
  const text = await run('node', 'list');
  t.is(text.code, 0, text.stderr);
  t.regex(text.stdout, /name: edge-1|name .*\n.*edge-1/);
  for (const args of [
    ['--json', 'node', 'list'],
    ['node', 'list', '--json'],
  ]) {
    const { code, stdout } = await run(...args);
    t.is(code, 0);
    t.like(JSON.parse(stdout), { items: [{ name: 'edge-1', ip_address: '192.0.2.10' }] });
  }
  // and a node is changed, drained, resumed and removed
  const listed = JSON.parse((await run('node', 'list', '--json')).stdout) as { items: { id: string }[] };
  const id = listed.items[0]?.id ?? '';
  const change = async (command: string, ...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await run('--json', 'node', command, id, ...args);
    t.is(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const options = ['--weight', '5', '--no-load-balancing', '--capacity-hint', '7', '--note', 'rack 4'];
  const changed = { name: 'edge-1', lb_weight: 5, lb_enabled: false, max_capacity_hint: 7, note: 'rack 4' };
  t.like(await change('change', ...options), { ...changed, status: 'unknown' });
  const again = await change('change', '--load-balancing', '--no-capacity-hint');
  t.like(again, { ...changed, lb_enabled: true, max_capacity_hint: null });
  t.like(await change('drain'), { status: 'draining', lb_weight: 5 });
  t.like(await change('maintain'), { status: 'maintenance' });
  t.like(await change('resume'), { status: 'unknown', mode: 'in_service' });
  t.deepEqual(await change('remove'), { node_id: id });
  t.deepEqual(JSON.parse((await run('node', 'list', '--json')).stdout), { items: [] });
  t.regex((await run('node', 'drain', id)).stderr, /there is no such node/);
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
});

test('A service that gives no answer ends the command with 75', async (t) => {
  // Given a control socket that closes every connection
  const data = await makeDataDirectory();
  t.teardown(() => data.remove());
  const server = createServer((socket) => socket.end()).listen(join(data.path, 'control.sock'));
  t.teardown(() => server.close());
  // When a command asks
  const { code, stderr } = await runCli(data.path, ['node', 'list']);
  // Then it says that the outcome is not known
  t.is(code, 75);
  t.regex(stderr, /whether the command was carried out is not known.*\(no_answer\)/);
});

for (const files of [24, 256])
  test(`A start that may open only ${files} files ends with a sentence`, (t) => {
    const serve = `ulimit -n ${files}; exec "$0" dist/cli.js serve`;
    const { status, stderr } = spawnSync('sh', ['-c', serve, process.execPath], { encoding: 'utf8' });
    t.is(status, 1);
    t.regex(stderr, new RegExp(`^stowage: this process may open ${files} files, and needs 512 [^\n]+\n$`));
  });
