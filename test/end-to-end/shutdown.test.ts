import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { addKey } from '../../src/keys/key-changes.js';
import { changeKeyFile } from '../../src/keys/key-file.js';
import { addNode, makeServiceClient, signedIn } from '../support/service-client.js';
import { freePort, makeDataDirectory, startService } from '../support/service-process.js';

const password = 'Correct-Horse-7';

test('SIGHUP reads the keys anew; SIGTERM lets requests finish, takes no more, and leaves nothing behind', async (t) => {
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const start = { directory: directory.path, port: await freePort() };
  const service = await startService(start);
  t.teardown(() => service.kill());
  const client = makeServiceClient(service.url);
  const countKeys = async (): Promise<number> => {
    const { keys } = (await client.get('/.well-known/jwks.json')).json();
    return Array.isArray(keys) ? keys.length : 0;
  };

  // Given a key that was added to the file, when the service is told, then it knows the key, long before the 30 s
  changeKeyFile(join(directory.path, 'keys.json'), (file) => {
    return addKey(file, 'jwt', { randomBytes, now: new Date() }).file;
  });
  t.is(await countKeys(), 1);
  service.signal('SIGHUP');
  await until(t, async () => (await countKeys()) === 2);

  // Given registrations whose passwords are being hashed, when the service is asked to end
  const slow = Array.from({ length: 6 }, (_, index) =>
    client.post('/api/v1/auth/register', { email: `ada${index}@example.org`, password }),
  );
  const first = await Promise.race(slow);
  t.is(first.status, 201);
  const exit = service.stop();
  // Then they are all answered, and the process ends well
  const replies = await Promise.all(slow);
  const registered = replies.filter(({ status }) => status === 201);
  // On a busy machine some may wait for their hash for longer than any may.
  for (const reply of replies) if (reply.status !== 201) t.like(reply.json(), { code: 'overloaded' });
  t.is(await exit, 0);
  t.true(replies.some(({ headers }) => headers.get('connection') === 'close'));
  t.false(existsSync(join(directory.path, 'control.sock')));
  t.false(existsSync(join(directory.path, 'events.db-wal')), 'the write-ahead log was copied and emptied');
  await t.throwsAsync(client.get('/healthz'));

  // and what was answered is there after the next start
  const again = await startService(start);
  t.teardown(() => again.kill());
  for (const reply of registered) {
    t.is((await client.get('/api/v1/auth/me', signedIn(reply.json()).headers)).status, 200);
  }
  // which an unclean end does not prevent either, though it leaves its socket
  await again.kill();
  t.true(existsSync(join(directory.path, 'control.sock')));
  const third = await startService(start);
  t.teardown(() => third.kill());
  await addNode(directory.path, 'edge-1', '192.0.2.1');
  t.is(await third.stop(), 0);
});

test('a second signal ends the service at once', async (t) => {
  // Given a service that is asked to end while a request is still arriving
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const service = await startService({ directory: directory.path, port: await freePort() });
  t.teardown(() => service.kill());
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = 'POST /api/v1/auth/register HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  socket.write(`${head}content-length: 100\r\n\r\n{`);
  // The request is there before the signal: a later one on another connection is answered.
  await makeServiceClient(service.url).get('/healthz');
  service.signal('SIGTERM');
  await until(t, () =>
    makeServiceClient(service.url)
      .get('/healthz')
      .then(
        () => false,
        () => true,
      ),
  );
  t.is(await Promise.race([service.exited, wait(300, 'waiting')]), 'waiting');
  // When it is asked again, in whatever way
  service.signal('SIGINT');
  // Then it ends at once
  t.is(await Promise.race([service.exited, wait(3_000, 'waiting')]), 130);
});

async function until(t: ExecutionContext, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > deadline) {
      t.fail('it did not come about within 10 s');
      return;
    }
    await wait(20);
  }
}
