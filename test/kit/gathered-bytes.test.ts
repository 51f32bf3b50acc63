import { createServer } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { z } from 'zod';
import { readRawBody } from '../../src/http/body/raw-body.js';
import { makeGatheredBytes } from '../../src/kit/gathered-bytes.js';
import { makeOutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import { startTestHttp } from '../support/clients/http-app.js';
import { openConnection, sendRaw } from '../support/clients/http-socket.js';
import { testRoute } from '../support/clients/test-route.js';
import { listen } from '../support/servers/loopback.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the most memory that the work holds at once beyond what was held before, in MB, without garbage. */
async function heldMost(work: () => Promise<unknown>): Promise<number> {
  const held = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const before = held();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, held());
  }, 5);
  await work().finally(() => clearInterval(sampling));
  return most - before;
}

/** Writes a body as its sender cuts it: into chunks of one byte. */
const inBytes = (body: string): string =>
  `${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`;
const head = 'Host: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n';

test.serial('A callback in pieces of one byte takes no more memory than one in large pieces', async (t) => {
  // Given
  const body = 'a'.repeat(256 * 1_024);
  const port = await listen(
    t,
    createServer((request, response) => {
      void readRawBody(request, 256 * 1_024).then((bytes) =>
        response.end(String(bytes.equals(Buffer.from(body)))),
      );
    }),
  );
  const bytes = Buffer.from(`POST / HTTP/1.1\r\n${head}\r\n${inBytes(body)}`);
  // When
  const most = await heldMost(async () => {
    const { text } = await sendRaw(port, bytes);
    t.regex(text, /true/);
  });
  // Then
  t.true(most < 20, `${most} MB`);
});

test.serial('Bodies in JSON in pieces of one byte take a few times their size', async (t) => {
  // Given
  const route = testRoute('POST /api/v1/things', {
    request: { body: z.strictObject({ name: z.string() }) },
    replies: { 200: { description: 'It.', schema: z.strictObject({}) } },
    handler: () => ({ status: 200, body: {} }),
  });
  const http = await startTestHttp(t, { routes: [route] });
  const body = inBytes(JSON.stringify({ name: 'a'.repeat(60_000) }));
  const text = `POST /api/v1/things HTTP/1.1\r\nContent-Type: application/json\r\n${head}\r\n${body}`;
  // When they wait for their ends
  const most = await heldMost(async () => {
    const connections = await Promise.all(Array.from({ length: 10 }, () => openConnection(http.server.port)));
    for (const connection of connections) connection.write(text.slice(0, -5));
    await wait(1_000);
    for (const connection of connections) connection.write(text.slice(-5));
    for (const connection of connections) t.deepEqual((await connection.closed()).statuses, [200]);
  });
  // Then
  t.true(most < 4, `${most} MB`);
});

test.serial('A reply in pieces of one byte takes no more memory than one in large pieces', async (t) => {
  // Given
  const body = 'a'.repeat(512 * 1_024);
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n${inBytes(body)}`);
  const port = await listen(
    t,
    createRawServer((socket) => socket.once('data', () => socket.end(bytes)).on('error', () => undefined)),
  );
  const http = makeOutgoingHttp({ isAllowed: () => true, timeMs: 600_000 });
  // When
  const most = await heldMost(async () => {
    const reply = await http({ method: 'GET', url: `http://127.0.0.1:${port}/`, bodyBytesMax: 2 ** 20 });
    t.true(reply.body.equals(Buffer.from(body)));
  });
  // Then
  t.true(most < 20, `${most} MB`);
});

test('Pieces of every size are gathered in their order', (t) => {
  const gathered = makeGatheredBytes();
  t.is(gathered.bytes().length, 0);
  let text = '';
  for (const size of [0, 1, 0, 2, 5, 1, 16, 3, 100, 1, 1]) {
    const piece = String.fromCodePoint(0x61 + (text.length % 26)).repeat(size);
    text += piece;
    t.is(gathered.add(Buffer.from(piece)), text.length);
    t.is(gathered.bytes().toString(), text);
  }
});
