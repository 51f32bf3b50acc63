import { once, setMaxListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { makeProbe, parseProbeTarget, probeMs } from '../../../../src/areas/nodes/prober.js';
import { eventually } from '../../../support/eventually.js';
import { testCertificate, testKey } from '../../../support/servers/eventstoredb-server/tls.js';
import { freePort } from '../../../support/servers/service-process.js';

const never = new AbortController().signal;
setMaxListeners(0, never);

/** Listens until the end of the test. `open` holds the connections that are not closed. */
async function listen(t: ExecutionContext, server: Server, host = '127.0.0.1') {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => undefined);
  });
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { open, port: (server.address() as AddressInfo).port };
}

function probeOf(text: string, timeMs?: number) {
  const target = parseProbeTarget(text);
  if (target === null) throw new Error(`${text} names no target`);
  return makeProbe(target, timeMs === undefined ? {} : { timeMs });
}

/** Waits until the server has seen the end of every connection. */
async function allClosed(open: ReadonlySet<Socket>): Promise<void> {
  await eventually('the server sees the end of each connection', () => open.size === 0);
}

const asIs: RequestListener = (request, response) => {
  response.writeHead(Number(request.url?.slice('/status/'.length)), { location: 'http://192.0.2.1/' }).end();
};

test('A probe waits 3 s for a node', (t) => t.is(probeMs, 3_000));

test('A node that accepts a connection answers a tcp probe, and one that refuses it does not', async (t) => {
  const { port, open } = await listen(t, makeMute());
  t.true(await probeOf(`tcp:${port}`)('127.0.0.1', never));
  await allClosed(open);
  t.false(await probeOf(`tcp:${await freePort()}`)('127.0.0.1', never));
});

test('A node may have an IPv6 address', async (t) => {
  const hosts: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    hosts.push(request.headers.host);
    response.end();
  });
  const { port } = await listen(t, server, '::1');
  t.true(await probeOf(`tcp:${port}`)('::1', never));
  t.true(await probeOf(`http:${port}/`)('::1', never));
  t.deepEqual(hosts, [`[::1]:${port}`]);
});

test('A status from 200 to 399 answers an http probe, and the probe follows no redirect', async (t) => {
  const asked: (string | undefined)[] = [];
  const { port, open } = await listen(
    t,
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.connection}`);
      asIs(request, response);
    }),
  );
  for (const [status, ok] of [
    [200, true],
    [204, true],
    [302, true],
    [399, true],
    [400, false],
    [404, false],
    [503, false],
  ] as const) {
    t.is(await probeOf(`http:${port}/status/${status}`)('127.0.0.1', never), ok, String(status));
  }
  t.is(asked.length, 7);
  t.is(asked[0], 'GET /status/200 close');
  await allClosed(open);
});

test('An https probe accepts a certificate of another name and of an unknown authority', async (t) => {
  const { port, open } = await listen(t, createTlsServer({ key: testKey, cert: testCertificate }, asIs));
  t.true(await probeOf(`https:${port}/status/200`)('127.0.0.1', never));
  t.false(await probeOf(`https:${port}/status/500`)('127.0.0.1', never));
  await allClosed(open);
});

/** A server that answers nothing. A connection that it does not read would not see its end. */
const makeMute = (): Server => createTcpServer((socket) => socket.resume());

const mute: readonly [string, string, () => Server][] = [
  ['accepts the connection and says nothing', 'http:PORT/', makeMute],
  ['does not finish the TLS handshake', 'https:PORT/', makeMute],
  [
    'sends the head of its reply byte by byte',
    'http:PORT/',
    () =>
      createTcpServer((socket) => {
        socket.resume();
        const timer = setInterval(() => socket.write('HTTP/1.1 200 OK\r\nx: x'.slice(0, 1)), 5);
        socket.once('close', () => clearInterval(timer));
      }),
  ],
];
for (const [what, text, makeServer] of mute) {
  test(`A node that ${what} fails, and its connection is closed`, async (t) => {
    const { port, open } = await listen(t, makeServer());
    t.false(await probeOf(text.replace('PORT', String(port)), 100)('127.0.0.1', never));
    await allClosed(open);
  });
}

const broken: readonly [string, string][] = [
  ['closes the connection', ''],
  ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['sends an endless head', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`],
  ['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
];
for (const [what, reply] of broken) {
  test(`A node that ${what} fails an http probe`, async (t) => {
    const { port, open } = await listen(
      t,
      createTcpServer((socket) => socket.once('data', () => socket.end(reply))),
    );
    t.false(await probeOf(`http:${port}/`)('127.0.0.1', never));
    await allClosed(open);
  });
}

test('A probe reads no body: an endless one ends with the head', async (t) => {
  const { port, open } = await listen(
    t,
    createServer((_, response) => response.writeHead(200).write('x'.repeat(1_000_000))),
  );
  t.true(await probeOf(`http:${port}/`)('127.0.0.1', never));
  await allClosed(open);
});

test('An abort closes the connection at once, and an aborted signal opens none', async (t) => {
  const { port, open } = await listen(t, makeMute());
  const aborting = new AbortController();
  const probing = probeOf(`http:${port}/`, 60_000)('127.0.0.1', aborting.signal);
  await eventually('a connection opens', () => open.size > 0);
  aborting.abort();
  t.false(await probing);
  await allClosed(open);
  t.false(await probeOf(`tcp:${port}`)('127.0.0.1', aborting.signal));
});

test('NODE_PROBER names a port and, with http, a path', (t) => {
  t.deepEqual(parseProbeTarget('tcp:65535'), { scheme: 'tcp', port: 65_535 });
  t.deepEqual(parseProbeTarget('http:80/'), { scheme: 'http', port: 80, path: '/' });
  t.deepEqual(parseProbeTarget('https:8443/health?deep=1'), {
    ...{ scheme: 'https', port: 8_443 },
    path: '/health?deep=1',
  });
  for (const wrong of [
    ...['', 'tcp', 'tcp:', 'tcp:0', 'tcp:65536', 'tcp:80/', 'tcp: 80', 'tcp:80 ', 'TCP:80', 'udp:53', '80'],
    ...['http:80', 'http:/health', 'http://host/', 'https:443', 'http:80health', 'http:80/a b', 'http:80/#a'],
    ...['http:80/a\r\nx: y', 'http:80/\u00e4', 'https:99999/'],
  ]) {
    t.is(parseProbeTarget(wrong), null, JSON.stringify(wrong));
  }
});
