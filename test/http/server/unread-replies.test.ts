import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { GroupedResponse } from '../../../src/http/server/grouped-response.js';
import { sendRaw } from '../../support/clients/send-raw.js';

const mebibyte = 1024 * 1024;

/** Answers each request with a text of so many bytes. */
async function serve(t: ExecutionContext, bytes: number) {
  const text = 'é'.repeat(bytes / 2);
  let ended = 0;
  const server = createServer<typeof IncomingMessage, typeof GroupedResponse>(
    { ServerResponse: GroupedResponse },
    (_, response) => {
      response.end(text);
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

test('Beyond 64 MiB of replies that clients do not read, the oldest ones end, and the newer ones are whole', async (t) => {
  t.timeout(60_000);
  // Given ten clients that read nothing of 8 MiB each
  const size = 8 * mebibyte;
  const { url, askAndWait } = await serve(t, size);
  const sockets: Socket[] = [];
  for (let n = 0; n < 10; n += 1) sockets.push(await askAndWait());
  // When they read
  const read: number[] = [];
  for (const socket of sockets) read.push(await readRest(socket, size));
  // Then the replies of the first two were given up
  t.deepEqual(
    read.map((bytes) => bytes >= size),
    [false, false, ...Array.from({ length: 8 }, () => true)],
    read.join(),
  );
  // And what was read counts no longer
  for (let n = 0; n < 10; n += 1) t.is((await sendRaw(url, { method: 'GET' })).body.length, size);
});
