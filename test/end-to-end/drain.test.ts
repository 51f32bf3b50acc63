import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { addNode, makeServiceClient } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';

test('A service starts where a killed one has left its socket, and one that drains ends by itself', async (t) => {
  const directory = givenDirectory(t);
  const killed = await givenService(t, { directory });
  await killed.kill();
  t.true(existsSync(join(directory, 'control.sock')));
  const service = await givenService(t, { directory, environment: { DRAIN_SECONDS: '1' } });
  await addNode(directory, 'edge-1', '192.0.2.1');
  t.is(await service.stop(), 0);
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
  const owner = await client.register('ada@example.org', 'Correct-Horse-7');
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
