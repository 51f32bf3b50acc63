import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { GroupedResponse } from '../../../src/http/server/grouped-response.js';
import { sendRaw } from '../../support/clients/send-raw.js';

async function serve(t: ExecutionContext, handler: (response: GroupedResponse) => void): Promise<string> {
  const server = createServer<typeof IncomingMessage, typeof GroupedResponse>(
    { ServerResponse: GroupedResponse },
    (_, response) => handler(response),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('The replies of one turn of the event loop are written at its end, whole', async (t) => {
  // Given two requests
  const waiting: GroupedResponse[] = [];
  const url = await serve(t, (response) => void waiting.push(response));
  const replies = [0, 1].map(() => fetch(url));
  while (waiting.length < replies.length) await turn();
  // When both end in one turn
  for (const [index, response] of waiting.entries()) response.end(`reply ${index}`);
  const during = waiting.map(({ headersSent }) => headersSent);
  await turn();
  // Then
  t.deepEqual(during, [false, false]);
  t.deepEqual(
    waiting.map(({ headersSent }) => headersSent),
    [true, true],
  );
  const texts = await Promise.all(replies.map(async (reply) => (await reply).text()));
  t.deepEqual(texts.sort(), ['reply 0', 'reply 1']);
});

test('A connection that ended with its own last reply gets no other one', async (t) => {
  const last = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast';
  const errors: unknown[] = [];
  const url = await serve(t, (response) => {
    response.socket?.on('error', (error) => void errors.push(error));
    response.end('first');
    response.socket?.end(last);
  });
  const { status, body } = await sendRaw(url, { method: 'GET' });
  t.deepEqual([status, body.toString(), errors], [400, 'last', []]);
});
