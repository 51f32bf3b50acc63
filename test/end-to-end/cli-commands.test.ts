import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import test from 'ava';
import { controlSocketPath, listenForOperators } from '../../src/operating/socket/listen.js';
import { version } from '../../src/version.js';
import { cli, runCli, givenDirectory, givenService } from '../support/servers/service-process.js';

const keepsCode = Number(process.versions.node.split('.')[0]) >= 22 ? test : test.skip;
keepsCode(
  'A program keeps its compiled code beside it, for its user only (skipped before Node 22)',
  async (t) => {
    await runCli(givenDirectory(t), ['--version']);
    const folder = join(dirname(cli), 'compile-cache');
    t.is(statSync(folder).mode & 0o077, 0);
    t.true(readdirSync(folder).length > 0);
  },
);

test('Wrong usage ends with 2, and help and version with 0', async (t) => {
  const data = givenDirectory(t);
  const run = (...args: string[]) => runCli(data, args);
  t.deepEqual(await run('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
  const help = await run('--help');
  t.is(help.code, 0);
  t.regex(help.stdout, /Usage: stowage[^]*--json/);
  // The verifier reads its other options itself.
  const ofVerifier = await run('audit', 'verify', '--help');
  t.is(ofVerifier.code, 0);
  t.regex(ofVerifier.stdout, /Usage: stowage audit verify[^]*--key <vkey file>/);
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

test('The list of nodes has every page', async (t) => {
  // Given a service that answers with two pages
  const data = givenDirectory(t);
  const service = await listenForOperators(controlSocketPath(data), ({ url = '' }, response) => {
    const [id, next_cursor] = url.includes('cursor=second') ? ['n2', null] : ['n1', 'second'];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items: [{ id }], next_cursor }));
  });
  t.teardown(() => service.close());
  // When the command lists the nodes
  const { stdout, stderr } = await runCli(data, ['node', 'list', '--json']);
  // Then
  t.is(stderr, '');
  t.deepEqual(JSON.parse(stdout), { items: [{ id: 'n1' }, { id: 'n2' }] });
});

test('Both lists of payments take a platform and a reason', async (t) => {
  // Given a service that keeps what it is asked
  const data = givenDirectory(t);
  const asked: string[] = [];
  const service = await listenForOperators(controlSocketPath(data), ({ url = '' }, response) => {
    asked.push(url);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items: [], next_cursor: null }));
  });
  t.teardown(() => service.close());
  // When
  const filters = ['--provider', 'alipay', '--reason'];
  const codes = [
    await runCli(data, ['payments', 'unmatched', ...filters, 'unknown_order', '--json']),
    await runCli(data, ['payments', 'review', ...filters, 'amount', '--json']),
  ].map(({ code }) => code);
  // Then
  t.deepEqual(codes, [0, 0]);
  t.deepEqual(asked, [
    '/api/v1/admin/payments/unmatched?limit=50&provider=alipay&reason=unknown_order',
    '/api/v1/admin/payments/review?limit=50&provider=alipay&reason=amount',
  ]);
});

test('Commands change, drain, resume and remove a node', async (t) => {
  // Given a service with a node
  const data = givenDirectory(t);
  await givenService(t, { directory: data });
  const run = (...args: string[]) => runCli(data, args);
  const added = await run('node', 'add', '--name', 'edge-1', '--address', '192.0.2.10');
  t.is(added.code, 0, added.stderr);
  // When commands change it, then each prints the node as JSON
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
});

test('A service that gives no answer ends the command with 75', async (t) => {
  // Given a control socket that closes every connection
  const data = givenDirectory(t);
  const server = createServer((socket) => socket.end()).listen(join(data, 'control.sock'));
  t.teardown(() => server.close());
  // When a command asks
  const { code, stderr } = await runCli(data, ['node', 'list']);
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
