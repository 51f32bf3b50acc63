import { connect } from 'node:net';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { callControl } from '../../src/operating/socket/control-client.js';
import { startControlServer } from '../../src/operating/socket/control-server.js';
import { defineOperation, makeOperationRunner } from '../../src/operating/socket/operation.js';
import { CommandRejected, OutcomeUnknown } from '../../src/event-sourcing/ports/errors.js';

const operations = [
  defineOperation('double', z.strictObject({ n: z.int() }), ({ n }) => Promise.resolve({ n: n * 2 })),
  defineOperation('refuse', z.strictObject({}), () =>
    Promise.reject(new CommandRejected('no_such_node', 'no such node')),
  ),
  defineOperation('fail', z.strictObject({}), () => Promise.reject(new Error('secret detail'))),
  defineOperation('lose', z.strictObject({}), () => Promise.reject(new OutcomeUnknown('no answer in 5 s'))),
];

async function givenServer(t: {
  teardown(fn: () => Promise<void>): void;
}): Promise<{ path: string; errors: string[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-control-'));
  const path = join(directory, 'control.sock');
  const errors: string[] = [];
  const run = makeOperationRunner(operations, (name) => errors.push(name));
  const server = await startControlServer({ path, run });
  t.teardown(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { path, errors };
}

test('The service runs an operation and the caller receives its result', async (t) => {
  const { path } = await givenServer(t);
  t.deepEqual(await callControl(path, { operation: 'double', input: { n: 21 } }), {
    ok: true,
    result: { n: 42 },
  });
});

test('Only the user of the service may connect', async (t) => {
  const { path } = await givenServer(t);
  t.is((await stat(path)).mode & 0o777, 0o600);
});

test('A refusal has a code and a sentence and reveals nothing about an internal failure', async (t) => {
  const { path, errors } = await givenServer(t);
  const ask = (operation: string, input = {}): ReturnType<typeof callControl> =>
    callControl(path, { operation, input });
  t.like(await ask('double', { n: 'x' }), { ok: false, code: 'invalid_request' });
  t.like(await ask('nothing'), { ok: false, code: 'unknown_operation' });
  t.deepEqual(await ask('refuse'), { ok: false, code: 'no_such_node', message: 'no such node' });
  t.like(await ask('lose'), { ok: false, code: 'store_unavailable' });
  t.deepEqual(await ask('fail'), {
    ok: false,
    code: 'internal_error',
    message: 'the operation failed; the log says why',
  });
  t.deepEqual(errors, ['lose', 'fail']);
});

test('The server refuses a line that is no request, and cuts off one that never ends', async (t) => {
  const { path } = await givenServer(t);
  const send = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(path, () => socket.write(text));
      const chunks: Buffer[] = [];
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.once('close', () => {
        resolve(Buffer.concat(chunks).toString());
      });
      socket.once('error', reject);
    });
  t.regex(await send('{"operation":1}\n'), /invalid_request/);
  t.regex(await send('not json\n'), /invalid_request/);
  t.is(await send('x'.repeat(1024 * 1024 + 1)), '');
});

test('A caller can distinguish a missing service from a refusal, even if a killed service left its socket', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'stowage-control-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  t.is(await callControl(join(directory, 'control.sock'), { operation: 'double', input: {} }), null);
});
