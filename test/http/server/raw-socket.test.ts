import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import type { ServerLimits } from '../../../src/http/server/server.js';
import { startTestHttp, type TestHttp } from '../../support/clients/http-app.js';
import { openConnection, type RawConnection, sendRaw } from '../../support/clients/http-socket.js';
import { eventually } from '../../support/eventually.js';
import { testRoute } from '../../support/clients/test-route.js';

const echo = testRoute('POST /echo', {
  request: { body: z.strictObject({ text: z.string() }) },
  replies: { 200: { description: 'It.', schema: z.strictObject({ text: z.string() }) } },
  handler: ({ body }) => ({ status: 200, body }),
});

const quick: Partial<ServerLimits> = {
  headersTimeout: 150,
  requestTimeout: 300,
  connectionsCheckingInterval: 25,
  closeWithin: 300,
};

const start = (t: ExecutionContext, limits: Partial<ServerLimits> = quick): Promise<TestHttp> =>
  startTestHttp(t, { routes: [echo], limits });

const close = 'Connection: close\r\n\r\n';
const connect = 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n';
const postJson = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const refused: [string, string, number][] = [
  ['malformed percent-encoding', `GET /a%zz HTTP/1.1\r\nHost: a\r\n${close}`, 400],
  ['malformed percent-encoding in a query', `GET /healthz?a=%f HTTP/1.1\r\nHost: a\r\n${close}`, 400],
  ['percent-encoding that is not UTF-8', `GET /a%ff HTTP/1.1\r\nHost: a\r\n${close}`, 400],
  ['an absolute target of another scheme', `GET ftp://other/healthz HTTP/1.1\r\nHost: a\r\n${close}`, 400],
  ['one Host twice', `GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n${close}`, 400],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\nHost: a\r\n${close}`, 400],
  ['no Host', `GET /healthz HTTP/1.1\r\n${close}`, 400],
  ['two Hosts', `GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}`, 400],
  [
    'two Authorizations',
    `GET /healthz HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nauthorization: y\r\n${close}`,
    400,
  ],
  ['a NUL in the path', `GET /heal\0thz HTTP/1.1\r\nHost: a\r\n${close}`, 400],
  ['a NUL in a header', `GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n${close}`, 400],
  [
    'a folded header',
    `GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\nContent-Length : 1\r\n${close}`,
    400,
  ],
  [
    'a body that is too large where none is taken',
    `GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n${close}`,
    413,
  ],
  [
    'two different lengths',
    `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n${close}{}`,
    400,
  ],
  [
    'a length and chunks',
    `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${close}0\r\n\r\n`,
    400,
  ],
  [
    'chunks in disguise',
    `POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n${close}0\r\n\r\n`,
    400,
  ],
  ['a broken chunk', `${postJson}Transfer-Encoding: chunked\r\n${close}zz\r\n`, 400],
  [
    'chunks in HTTP/1.0',
    `POST /echo HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n{"text":"a"}\r\n0\r\n\r\n`,
    400,
  ],
  ['a negative length', `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n${close}`, 400],
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['a long target', `GET /${'a'.repeat(5000)} HTTP/1.1\r\nHost: a\r\n${close}`, 414],
  ['headers of 17 KiB', `GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(17 * 1024)}\r\n${close}`, 431],
  ['9,000 headers', `GET /healthz HTTP/1.1\r\nHost: a\r\n${'a:b\r\n'.repeat(9000)}${close}`, 431],
  ['CONNECT', connect, 405],
];
for (const [what, bytes, status] of refused) {
  test(`A request with ${what} gets ${status} in JSON`, async (t) => {
    const http = await start(t);
    const { text, statuses } = await sendRaw(http.server.port, Buffer.from(bytes, 'latin1'));
    t.deepEqual(statuses, [status]);
    t.regex(text, /Content-Type: application\/json/i);
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
    t.deepEqual(Object.keys(body), ['code', 'message']);
  });
}

const taken: [string, string][] = [
  ['an absolute target', `GET http://other/healthz HTTP/1.1\r\nHost: a\r\n${close}`],
  ['an absolute target in capitals', `GET HTTPS://other:8443/healthz HTTP/1.1\r\nHost: a\r\n${close}`],
  [
    'two equal headers',
    `${postJson}content-type: application/json\r\nContent-Length: 12\r\n${close}{"text":"a"}`,
  ],
];
for (const [what, bytes] of taken) {
  test(`A request with ${what} is served (RFC 9112)`, async (t) => {
    const http = await start(t);
    const { statuses } = await sendRaw(http.server.port, Buffer.from(bytes, 'latin1'));
    t.deepEqual(statuses, [200]);
  });
}

test('A request with 2,000 small headers is accepted whole', async (t) => {
  const http = await start(t);
  const headers = 'a:b\r\n'.repeat(2000);
  const { statuses } = await sendRaw(
    http.server.port,
    `GET /healthz HTTP/1.1\r\nHost: a\r\n${headers}${close}`,
  );
  t.deepEqual(statuses, [200]);
});

for (const [what, begin, more] of [
  ['Headers that never end are', 'GET /healthz HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n'],
  ['A body that never ends is', `${postJson}Content-Length: 1000\r\n\r\n`, '{'],
] as const) {
  test(`${what} cut off with 408`, async (t) => {
    const http = await start(t);
    const connection = await openConnection(http.server.port);
    connection.write(begin);
    const drip = setInterval(() => connection.write(more), 20);
    const { statuses } = await connection.closed();
    clearInterval(drip);
    t.deepEqual(statuses, [408]);
  });
}

test('Pipelined requests are answered in order', async (t) => {
  const http = await start(t);
  const post = (text: string): string => {
    const body = JSON.stringify({ text });
    return `${postJson}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const { text, statuses } = await sendRaw(
    http.server.port,
    `${post('one')}${post('two')}GET /nothing HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n${close}`,
  );
  t.deepEqual(statuses, [200, 200, 404, 200]);
  t.true(text.indexOf('"one"') < text.indexOf('"two"'));
});

test('A malformed request behind a good one does not take its reply', async (t) => {
  const http = await start(t);
  const { text, statuses } = await sendRaw(
    http.server.port,
    'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n',
  );
  t.is(statuses[0], 200);
  t.true(text.includes('{"status":"ok"}'));
  t.true(statuses.length === 1 || statuses[1] === 400);
});

test('A chunked body is counted while it arrives, and the rest is discarded before the next request', async (t) => {
  const http = await start(t, {});
  const connection = await openConnection(http.server.port);
  connection.write(`${postJson}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `1000\r\n${'a'.repeat(4096)}\r\n`;
  for (let sent = 0; sent <= 64 * 1024; sent += 4096) connection.write(chunk);
  const text = await connection.received(/payload_too_large/);
  t.regex(text, /^HTTP\/1\.1 413 /);
  // When the client sends the rest, which fills every buffer on the way, and another request
  for (let sent = 0; sent <= 1024 * 1024; sent += 4096) connection.write(chunk);
  connection.write(`0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n${close}`);
  // Then
  t.deepEqual((await connection.closed()).statuses, [413, 200]);
});

test('A client that half-closes after its request still gets the reply', async (t) => {
  const http = await start(t);
  const connection = await openConnection(http.server.port);
  connection.socket.end('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  t.deepEqual((await connection.closed()).statuses, [200]);
});

test('A client that resets its connection after CONNECT disturbs no other client', async (t) => {
  const http = await start(t);
  for (const before of ['', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n']) {
    for (let round = 0; round < 20; round += 1) {
      const connection = await openConnection(http.server.port);
      connection.write(before + connect);
      await wait(round % 4);
      connection.socket.resetAndDestroy();
    }
  }
  await eventually('all connections have ended', async () =>
    (await http.registry.metrics()).includes('stowage_http_connections 0'),
  );
  t.is((await http.ask('/healthz')).status, 200);
});

test('A client that disconnects during its body disturbs no other client', async (t) => {
  const http = await start(t);
  for (let round = 0; round < 20; round += 1) {
    const connection = await openConnection(http.server.port);
    connection.write(`${postJson}Content-Length: 100\r\n\r\n{"te`);
    connection.socket.resetAndDestroy();
  }
  t.is((await http.ask('/healthz')).status, 200);
  t.notRegex(http.logLines.join(''), /internal_error/);
});

test('An unknown expectation is no reason to refuse', async (t) => {
  const http = await start(t);
  const { statuses } = await sendRaw(
    http.server.port,
    `GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n${close}`,
  );
  t.deepEqual(statuses, [200]);
});

/** Opens a connection that has one request behind it, and is idle. */
async function openIdle(port: number): Promise<RawConnection> {
  const connection = await openConnection(port);
  connection.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.received(/"ok"/);
  return connection;
}

/** A route that answers when the test says so, with the arrival of its first request. */
function heldRoute() {
  let [release, enter] = [(): void => undefined, (): void => undefined];
  const gate = new Promise<void>((resolve) => (release = resolve));
  const arrived = new Promise<void>((resolve) => (enter = resolve));
  const route = testRoute('GET /slow', {
    replies: { 200: { description: 'At last.', schema: z.strictObject({ text: z.string() }) } },
    handler: async (_request) => {
      enter();
      await gate;
      return { status: 200, body: { text: 'done' } };
    },
  });
  return { route, arrived, release };
}

test('A connection beyond the limit of all takes the place of the longest idle one', async (t) => {
  const http = await start(t, { connectionsMax: 2 });
  const [first, second] = [await openIdle(http.server.port), await openIdle(http.server.port)];
  const { statuses } = await sendRaw(http.server.port, `GET /healthz HTTP/1.1\r\nHost: a\r\n${close}`);
  t.deepEqual(statuses, [200]);
  await first.closed();
  second.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n${close}`);
  t.deepEqual((await second.closed()).statuses, [200, 200]);
});

test('A connection beyond the limit of its client takes the place of an idle one, and is refused without any', async (t) => {
  const { route, arrived, release } = heldRoute();
  const http = await startTestHttp(t, { routes: [route], limits: { connectionsPerClientMax: 2 } });
  const { port } = http.server;
  const idle = await openIdle(port);
  const busy = await openConnection(port);
  busy.write(`GET /slow HTTP/1.1\r\nHost: a\r\n${close}`);
  await arrived;
  // The idle connection makes room, and the busy one does not.
  const other = await openIdle(port);
  await idle.closed();
  other.write(`GET /slow HTTP/1.1\r\nHost: a\r\n${close}`);
  await eventually('a connection is refused', async () => {
    const { statuses } = await sendRaw(port, `GET /healthz HTTP/1.1\r\nHost: a\r\n${close}`);
    t.deepEqual(statuses, []);
    return (await http.registry.metrics()).includes('reason="too_many_connections"} 1');
  });
  release();
  t.deepEqual((await busy.closed()).statuses, [200]);
});

test('A connection that a refusal ends takes no place of another one while its client holds it', async (t) => {
  // Given an idle connection of a client that may have two
  const http = await start(t, { ...quick, connectionsPerClientMax: 2 });
  const idle = await openIdle(http.server.port);
  // When the client opens others, which a refusal ends, and does not close them
  for (let count = 0; count < 3; count += 1) {
    const refusedOne = await openConnection(http.server.port);
    t.teardown(() => refusedOne.socket.destroy());
    refusedOne.write('hello\r\n\r\n');
    await refusedOne.received(/"message"/);
  }
  // Then the idle connection has kept its place
  idle.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n${close}`);
  t.deepEqual((await idle.closed()).statuses, [200, 200]);
});

test('A client that reads nothing of a reply keeps its connection no longer than an idle one', async (t) => {
  const large = testRoute('GET /large', {
    replies: { 200: { description: 'It.', schema: z.strictObject({ text: z.string() }) } },
    handler: (_request) => ({ status: 200, body: { text: 'a'.repeat(32 * 1024 * 1024) } }),
  });
  for (const more of ['', connect]) {
    // Given the only connection, whose client reads nothing of a reply that no buffer on the way holds
    const limits = { connectionsMax: 1, keepAliveTimeout: 300 };
    const http = await startTestHttp(t, { routes: [large], limits });
    const { port } = http.server;
    const silent = await openConnection(port);
    t.teardown(() => silent.socket.destroy());
    silent.socket.pause();
    silent.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /large HTTP/1.1\r\nHost: a\r\n\r\n${more}`);
    await eventually('the reply is made', () => http.logLines.join('').includes('/large'));
    // Then another client has its place after a while
    await eventually('another client is served', async () => {
      const { statuses } = await sendRaw(port, `GET /healthz HTTP/1.1\r\nHost: a\r\n${close}`);
      return statuses.length > 0;
    });
  }
  t.pass();
});

test('Requests of a pipeline are served one after the other, so that another client waits for one of them at most', async (t) => {
  let [running, most] = [0, 0];
  const route = testRoute('GET /count', {
    replies: { 200: { description: 'Done.', schema: z.strictObject({}) } },
    handler: async (_request) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { status: 200, body: {} };
    },
  });
  const http = await startTestHttp(t, { routes: [route], limits: { pipelinedMax: 16 } });
  const request = 'GET /count HTTP/1.1\r\nHost: a\r\n\r\n';
  const { statuses } = await sendRaw(
    http.server.port,
    request.repeat(16) + request.replace('\r\n\r\n', `\r\n${close}`),
  );
  t.deepEqual(statuses, Array<number>(17).fill(200));
  t.is(most, 1);
});

test('A pipeline that is too long ends the connection after the requests that wait', async (t) => {
  const http = await start(t, { pipelinedMax: 3 });
  const { statuses, text } = await sendRaw(
    http.server.port,
    'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_400),
  );
  t.deepEqual(statuses, [200, 200, 200, 200]);
  t.regex(text, /Connection: close/i);
  t.is((await http.ask('/healthz')).status, 200);
});

test('A pipeline without end behind a slow request is not read any further', async (t) => {
  const { route, arrived, release } = heldRoute();
  const http = await startTestHttp(t, { routes: [route], limits: { pipelinedMax: 3 } });
  const client = await openConnection(http.server.port);
  client.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived;
  // When the client sends more than the buffers of the system hold
  const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
  for (let part = 0; part < 400; part += 1) client.write(request.repeat(1_700));
  let left = -1;
  for (let same = 0; same < 5 && client.socket.writableLength > 0;) {
    same = client.socket.writableLength === left ? same + 1 : 0;
    left = client.socket.writableLength;
    await wait(100);
  }
  // Then the service leaves most of it with the client, and serves others and those that wait
  t.true(client.socket.writableLength > 0, 'the service has read all of it');
  t.is((await http.ask('/healthz')).status, 200);
  client.socket.destroy();
  release();
});

test('Closing finishes a request in flight, accepts no other, and ends idle connections', async (t) => {
  const { route, arrived, release } = heldRoute();
  const http = await startTestHttp(t, { routes: [route], limits: { closeWithin: 600_000 } });
  const idle = await openIdle(http.server.port);
  const busy = await openConnection(http.server.port);
  busy.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived;
  const closed = http.server.close();
  await idle.closed();
  await t.throwsAsync(openConnection(http.server.port));
  release();
  const { text, statuses } = await busy.closed();
  t.deepEqual(statuses, [200]);
  t.regex(text, /Connection: close/i);
  await closed;
});

test('Closing waits no longer than its bound', async (t) => {
  for (const more of ['', connect]) {
    const { route, arrived } = heldRoute();
    const http = await startTestHttp(t, { routes: [route], limits: { closeWithin: 100 } });
    const busy = await openConnection(http.server.port);
    busy.write(`GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${more}`);
    await arrived;
    await http.server.close();
    t.deepEqual((await busy.closed()).statuses, []);
  }
});
