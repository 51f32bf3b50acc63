import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import test from 'ava';
import { readRawBody } from '../../../src/http/body/raw-body.js';

const bytesMax = 256 * 1024;
const given = (headers = {}) =>
  Object.assign(new PassThrough(), { headers }) as never as IncomingMessage & PassThrough;
const listening = (request: IncomingMessage) =>
  ['data', 'end', 'error', 'close'].map((name) => request.listenerCount(name));

test('The bytes of a body are read as they were sent, up to 256 KiB', async (t) => {
  const request = given();
  const before = listening(request);
  const body = readRawBody(request, bytesMax);
  request.write(Buffer.alloc(bytesMax - 1, 'a'));
  request.end('b');
  t.deepEqual(await body, Buffer.concat([Buffer.alloc(bytesMax - 1, 'a'), Buffer.from('b')]));
  t.deepEqual(listening(request), before);
});

test('A larger body is refused at its first byte too many, and the rest is not kept', async (t) => {
  const request = given();
  const before = listening(request);
  const body = readRawBody(request, bytesMax);
  request.write(Buffer.alloc(bytesMax));
  request.write('b');
  await t.throwsAsync(body, { message: 'the body is larger than 262144 bytes' });
  t.deepEqual(listening(request), before);
  t.true(request.readableFlowing, 'so that the reply can be sent');
});

test('A body that says that it is larger is refused before it is read', async (t) => {
  const request = given({ 'content-length': String(bytesMax + 1) });
  await t.throwsAsync(readRawBody(request, bytesMax), { message: 'the body is larger than 262144 bytes' });
  t.is(request.listenerCount('data'), 0);
});

test('A body that ends early is refused', async (t) => {
  for (const breakOff of ['error', 'close']) {
    const request = given();
    const before = listening(request);
    const body = readRawBody(request, bytesMax);
    request.write('half');
    request.emit(breakOff, new Error('the connection ended'));
    await t.throwsAsync(body, { message: 'the body was cut off' });
    t.deepEqual(listening(request), before);
  }
});

test.serial(
  'Beyond 32 MiB of bodies that arrive, the oldest ones are refused, and the newer ones are read',
  async (t) => {
    const size = bytesMax - 1;
    const begin = () => {
      const request = given();
      const read = readRawBody(request, bytesMax).then(
        (body) => body.length,
        (error: unknown) => error,
      );
      request.write(Buffer.alloc(size));
      return { request, read };
    };
    // Given senders who do not end their bodies, 256 KiB too much
    const slow = Array.from({ length: 129 }, begin);
    await new Promise(setImmediate);
    // When they end
    for (const { request } of slow) request.end();
    // Then
    const [first, ...others] = await Promise.all(slow.map(({ read }) => read));
    t.like(first, { code: 'overloaded' });
    t.true(slow[0]?.request.readableFlowing, 'so that the reply can be sent');
    t.deepEqual(new Set(others), new Set([size]));
    // And what has arrived counts no longer
    const next = Array.from({ length: 128 }, begin);
    await new Promise(setImmediate);
    for (const { request } of next) request.end();
    t.deepEqual(new Set(await Promise.all(next.map(({ read }) => read))), new Set([size]));
  },
);
