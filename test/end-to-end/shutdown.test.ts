import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { addKey } from '../../src/keys/rings/key-changes.js';
import { changeKeyFile } from '../../src/keys/rings/key-file.js';
import { addNode, makeServiceClient, signedIn } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { freePort, givenDirectory, givenService } from '../support/servers/service-process.js';

const password = 'Correct-Horse-7';

test('SIGHUP reloads the keys, and SIGTERM finishes running requests and leaves no process behind', async (t) => {
  const directory = givenDirectory(t);
  const start = { directory, port: await freePort() };
  const service = await givenService(t, start);
  const client = makeServiceClient(service.url);
  const countKeys = async (): Promise<number> => {
    const { keys } = (await client.get('/.well-known/jwks.json')).json();
    return Array.isArray(keys) ? keys.length : 0;
  };

  // Given a key that was added to the file, when SIGHUP arrives, then the service knows the key well before the 30 s
  changeKeyFile(join(directory, 'keys.json'), (file) => {
    return addKey(file, 'jwt', { randomBytes, now: new Date() }).file;
  });
  t.is(await countKeys(), 1);
  service.signal('SIGHUP');
  await eventually('the service knows the key', async () => (await countKeys()) === 2);

  // Given registrations whose passwords are being hashed, when SIGTERM arrives
  const slow = Array.from({ length: 6 }, (_, index) =>
    client.post('/api/v1/auth/register', { email: `ada${index}@example.org`, password }),
  );
  // A busy machine refuses some of them at once, because they would wait too long.
  await Promise.any(
    slow.map(async (reply) => {
      const { status } = await reply;
      if (status !== 201) throw new Error(`the registration was answered ${status}`);
    }),
  );
  const exit = service.stop();
  // Then all are answered, and the process ends with exit code 0
  const replies = await Promise.all(slow);
  const registered = replies.filter(({ status }) => status === 201);
  // On a busy machine some may wait for their hash beyond the time limit.
  for (const { status } of replies) t.true(status === 201 || status === 503, String(status));
  t.is(await exit, 0);
  t.true(replies.some(({ headers }) => headers.get('connection') === 'close'));
  t.false(existsSync(join(directory, 'control.sock')));
  t.false(existsSync(join(directory, 'events.db-wal')), 'the write-ahead log was copied and emptied');
  await t.throwsAsync(client.get('/healthz'));

  // and the answered registrations exist after the next start
  const again = await givenService(t, start);
  for (const reply of registered) {
    t.is((await client.get('/api/v1/auth/me', signedIn(reply.json()).headers)).status, 200);
  }
  // and a kill does not prevent that start, although it leaves the socket behind
  await again.kill();
  t.true(existsSync(join(directory, 'control.sock')));
  const third = await givenService(t, { ...start, environment: { DRAIN_SECONDS: '1' } });
  await addNode(directory, 'edge-1', '192.0.2.1');
  // and a service that drains ends by itself
  t.is(await third.stop(), 0);
});

test('A second signal ends the service at once', async (t) => {
  // Given a service that shuts down while a request is still arriving
  const directory = givenDirectory(t);
  const service = await givenService(t, { directory });
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const head = 'POST /api/v1/auth/register HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  socket.write(`${head}content-length: 100\r\n\r\n{`);
  // The request arrives before the signal: a later one on another connection is answered.
  await makeServiceClient(service.url).get('/healthz');
  service.signal('SIGTERM');
  await eventually('the service accepts no connection', () =>
    makeServiceClient(service.url)
      .get('/healthz')
      .then(
        () => false,
        () => true,
      ),
  );
  t.is(await Promise.race([service.exited, wait(300, 'waiting')]), 'waiting');
  // When a second signal of any kind arrives
  service.signal('SIGINT');
  // Then the service ends at once
  t.is(await service.exited, 130);
});

test('After SIGTERM the service is not ready and still serves for DRAIN_SECONDS, and a second signal ends it', async (t) => {
  // Given a service that drains for longer than the test takes
  const directory = givenDirectory(t);
  const environment = { DRAIN_SECONDS: '300' };
  const service = await givenService(t, { directory, environment });
  const client = makeServiceClient(service.url);
  const owner = await client.register('ada@example.org', password);
  // When SIGTERM arrives
  service.signal('SIGTERM');
  await eventually(
    'the service is not ready',
    async () => (await fetch(`${service.url}/readyz`)).status === 503,
  );
  // Then new connections are accepted, and reads and writes are served
  const port = Number(new URL(service.url).port);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  t.is((await client.get('/healthz')).status, 200);
  t.is((await client.post('/api/v1/projects', { name: 'Film' }, owner.headers)).status, 201);
  t.is((await client.get('/api/v1/auth/me', owner.headers)).status, 200);
  // When a second signal arrives, then the service ends at once
  service.signal('SIGTERM');
  t.is(await service.exited, 130);
});
