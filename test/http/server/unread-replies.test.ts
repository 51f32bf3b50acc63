import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { GroupedResponse } from '../../../src/http/server/grouped-response.js';
import { sendRaw } from '../../support/clients/send-raw.js';

const mebibyte = 1024 * 1024;

async function serve(t: ExecutionContext, contentOf: () => string | Buffer) {
  let ended = 0;
  const server = createServer<typeof IncomingMessage, typeof GroupedResponse>(
    { ServerResponse: GroupedResponse },
    (_, response) => {
      response.end(contentOf());
      ended += 1;
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Asks, and reads nothing of the reply. Resolves when the reply waits. */
    askAndWait: async (): Promise<Socket> => {
      const [socket, before] = [connect(port, '127.0.0.1'), ended];
      socket.on('error', () => undefined).pause();
      t.teardown(() => socket.destroy());
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      while (ended === before) await new Promise(setImmediate);
      return socket;
    },
  };
}

/** Reads the rest of the reply. Returns the bytes that the connection received before it closed. */
async function readRest(socket: Socket, all: number): Promise<number> {
  let bytes = 0;
  socket.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes >= all) socket.destroy();
  });
  await once(socket.resume(), 'close');
  return bytes;
}

/** Begins ten requests, and reads the replies after that. Returns which replies were whole. */
async function readLate(t: ExecutionContext, contentOf: () => string | Buffer): Promise<readonly boolean[]> {
  const { url, askAndWait } = await serve(t, contentOf);
  const sockets: Socket[] = [];
  for (let n = 0; n < 10; n += 1) sockets.push(await askAndWait());
  const whole: boolean[] = [];
  for (const socket of sockets) whole.push((await readRest(socket, size)) >= size);
  // What was read counts no longer.
  for (let n = 0; n < 10; n += 1) t.is((await sendRaw(url, { method: 'GET' })).body.length, size);
  return whole;
}

const size = 8 * mebibyte;
const text = 'é'.repeat(size / 2);
const shared = Buffer.from(text);
const newest = [false, false, ...Array.from({ length: 8 }, () => true)];

for (const [title, contentOf, whole] of [
  ['Beyond 64 MiB of texts that clients do not read, the oldest replies end', () => text, newest],
  [
    'Beyond 64 MiB of bytes that clients do not read, the oldest replies end',
    () => Buffer.from(text),
    newest,
  ],
  ['Bytes that replies share count once until all of these are read', () => shared, newest.map(() => true)],
] as const) {
  test.serial(title, async (t) => {
    t.timeout(60_000);
    t.deepEqual(await readLate(t, contentOf), whole);
  });
}
