import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { makeNameSettings } from '../../src/outgoing/addresses.js';
import { makeAskServers, makeResolveName } from '../../src/outgoing/resolve-name.js';
import { makeTestClock } from '../support/fakes/clock.js';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { givenDirectory } from '../support/directories.js';

/** The resolver over files and a name server of the test. */
async function given(
  t: ExecutionContext,
  { hosts = '', resolver = '' }: { readonly hosts?: string; readonly resolver?: string },
  replies: Readonly<Record<string, NameReply>> = {},
) {
  const directory = givenDirectory(t);
  const files = { hosts: join(directory, 'hosts'), resolver: join(directory, 'resolv.conf') };
  const write = (text: { readonly hosts?: string; readonly resolver?: string }): void => {
    if (text.hosts !== undefined) writeFileSync(files.hosts, text.hosts);
    if (text.resolver !== undefined) writeFileSync(files.resolver, text.resolver);
  };
  write({ hosts, resolver });
  const server = await startNameServer((name) => replies[name] ?? 'no such name');
  t.teardown(() => server.close());
  const clock = makeTestClock();
  const resolve = makeResolveName(makeNameSettings(files, clock), makeAskServers([server.server]));
  const addresses = async (name: string): Promise<readonly string[]> =>
    (await resolve(name)).map(({ address }) => address);
  return { resolve, addresses, write, clock, asked: server.asked };
}

test('Names of the hosts file resolve without a name server', async (t) => {
  const hosts =
    '127.0.0.1 localhost\n# a comment\n172.18.0.2\tS3 s3.internal. # compose\n::1 s3\nnonsense s4\n';
  const { addresses, asked } = await given(t, { hosts });
  t.deepEqual(await addresses('s3'), ['172.18.0.2', '::1']);
  t.deepEqual(await addresses('S3.internal'), ['172.18.0.2']);
  t.deepEqual(await addresses('s3.internal.'), ['172.18.0.2']);
  t.deepEqual(asked, []);
});

test('A changed hosts file counts after five seconds', async (t) => {
  const { addresses, write, clock } = await given(t, { hosts: '192.0.2.1 s3\n' });
  t.deepEqual(await addresses('s3'), ['192.0.2.1']);
  write({ hosts: '192.0.2.22 s3\n' });
  clock.advance(5_000);
  t.deepEqual(await addresses('s3'), ['192.0.2.22']);
});

test('A hosts file that could not be opened for a moment counts after five seconds', async (t) => {
  // Given a process that has opened as many files as it may when it first needs a name
  const directory = givenDirectory(t);
  const [hosts, resolver] = [join(directory, 'hosts'), join(directory, 'resolv.conf')];
  for (const file of [hosts, resolver]) writeFileSync(file, '192.0.2.1 s3\n');
  const script = `import { closeSync, openSync } from 'node:fs';
    import { makeNameSettings } from '${new URL('../../src/outgoing/addresses.js', import.meta.url).href}';
    let nowMs = 0;
    const settings = makeNameSettings(${JSON.stringify({ hosts, resolver })}, { steadyMs: () => nowMs });
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch { await settings(); }
    // When it may open files again
    for (const file of open) closeSync(file);
    nowMs += 5_000;
    console.log((await settings()).hosts.get('s3')?.[0].address);`;
  const limited = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1"';
  const { stdout } = await promisify(execFile)('bash', ['-c', limited, process.execPath, script]);
  // Then the name has its address
  t.is(stdout, '192.0.2.1\n');
});

test('The name localhost is the loopback address, also without a line for it', async (t) => {
  const { addresses, asked } = await given(t, {});
  t.deepEqual(await addresses('localhost'), ['127.0.0.1', '::1']);
  t.deepEqual(await addresses('s3.localhost'), ['127.0.0.1', '::1']);
  t.deepEqual(asked, []);
});

test('Names resolve in the search domains of Compose and of Kubernetes', async (t) => {
  // Compose answers for the names of its services. Kubernetes needs the search domains, also for names with dots.
  const compose = await given(
    t,
    { resolver: 'nameserver 127.0.0.11\noptions ndots:0\n' },
    { s3: ['172.18.0.2'] },
  );
  t.deepEqual(await compose.addresses('s3'), ['172.18.0.2']);
  const resolver =
    'search apps.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n';
  const replies: Readonly<Record<string, NameReply>> = {
    's3.apps.svc.cluster.local': ['10.0.0.1'],
    'minio.other.svc.cluster.local': ['10.0.0.2'],
    'bucket.example.org': ['192.0.2.7'],
  };
  const cluster = await given(t, { resolver }, replies);
  t.deepEqual(await cluster.addresses('s3'), ['10.0.0.1']);
  t.deepEqual(await cluster.addresses('minio.other'), ['10.0.0.2']);
  t.deepEqual(await cluster.addresses('bucket.example.org'), ['192.0.2.7']);
  // A name that ends in a dot is whole
  await t.throwsAsync(cluster.addresses('s3.'), { code: 'ENOTFOUND' });
  t.true(cluster.asked.includes('s3 A'));
});

test('A name with enough dots is asked for as it is first', async (t) => {
  const { addresses, asked } = await given(
    t,
    { resolver: 'domain example.net\n' },
    { 'bucket.example.org': ['192.0.2.7'], 'short.example.net': ['192.0.2.8'] },
  );
  t.deepEqual(await addresses('bucket.example.org'), ['192.0.2.7']);
  t.false(asked.some((question) => question.includes('example.net')));
  t.deepEqual(await addresses('short'), ['192.0.2.8']);
});

test('A missing name and a failing server have different codes', async (t) => {
  const { resolve } = await given(t, {}, { 'fails.example': 'server failure' });
  await t.throwsAsync(resolve('nowhere.example'), { code: 'ENOTFOUND' });
  await t.throwsAsync(resolve('fails.example'), { code: 'EAI_AGAIN' });
  await t.throwsAsync(resolve(`${'a'.repeat(64)}.example`), { code: 'ENOTFOUND' });
});

test('A server that never answers is asked twice for each family', async (t) => {
  const { resolve, asked } = await given(t, {}, { 'silent.example': 'silence' });
  await t.throwsAsync(resolve('silent.example'), { code: 'EAI_AGAIN' });
  t.deepEqual(asked.toSorted(), [
    ...Array.from({ length: 2 }, () => 'silent.example A'),
    ...Array.from({ length: 2 }, () => 'silent.example AAAA'),
  ]);
});

test('Addresses of one family do not wait for a server that is silent about the other', async (t) => {
  const resolve = makeResolveName(
    () => Promise.resolve({ hosts: new Map(), search: [], dots: 1, version: '' }),
    (_name, family) => (family === 4 ? Promise.resolve(['192.0.2.7']) : new Promise(() => undefined)),
  );
  t.deepEqual(await resolve('bucket.example'), [{ address: '192.0.2.7', family: 4 }]);
});

/** The reply of a name server to a name: addresses of IPv4, a code of RFC 1035, section 4.1.1, or none at all. */
type NameReply = readonly string[] | 'no such name' | 'server failure' | 'silence';

const codes = { 'no such name': 3, 'server failure': 2 } as const;

/** A name server over UDP that answers what a test says. It counts the questions by name and type. */
async function startNameServer(reply: (name: string) => NameReply) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    asked.push(`${name} ${type === 1 ? 'A' : 'AAAA'}`);
    const found = reply(name);
    if (found === 'silence') return;
    const addresses = typeof found === 'string' || type !== 1 ? [] : found;
    const code = typeof found === 'string' ? codes[found] : 0;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt16BE(0, 8);
    header.writeUInt16BE(0, 10);
    const answers = addresses.map((ip) =>
      // The name of the question, type A, class IN, a life of 0 s, four bytes.
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, question.subarray(12, end), ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  return {
    server: `127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        socket.close(() => resolve());
      }),
  };
}

function readQuestion(message: Buffer): {
  readonly name: string;
  readonly type: number;
  readonly end: number;
} {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}
