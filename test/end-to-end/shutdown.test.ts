import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { addKey } from '../../src/keys/rings/key-changes.js';
import { changeKeyFile } from '../../src/keys/rings/key-file.js';
import { makeServiceClient, signedIn } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { freePort, givenDirectory, givenService } from '../support/servers/service-process.js';

const password = 'Correct-Horse-7';

test('SIGHUP reloads the keys, and SIGTERM finishes running requests and leaves no process behind', async (t) => {
  const directory = givenDirectory(t);
  // The tokens of a service name its address.
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

  // Given an account, and registrations whose passwords are being hashed, when SIGTERM arrives
  const ada = await client.register('ada@example.org', password);
  const slow = Array.from({ length: 4 }, (_, index) =>
    client.post('/api/v1/auth/register', { email: `bob${index}@example.org`, password }),
  );
  await Promise.race(slow);
  const exit = service.stop();
  // Then all are answered, and the process ends with exit code 0
  const replies = await Promise.all(slow);
  const registered = replies.filter(({ status }) => status === 201);
  // A busy machine refuses some of them, because they would wait too long.
  for (const { status } of replies) t.true(status === 201 || status === 503, String(status));
  t.is(await exit, 0);
  t.false(existsSync(join(directory, 'control.sock')));
  t.false(existsSync(join(directory, 'events.db-wal')), 'the write-ahead log was copied and emptied');
  await t.throwsAsync(client.get('/healthz'));

  // and the answered registrations exist after the next start
  await givenService(t, start);
  for (const { headers } of [ada, ...registered.map((reply) => signedIn(reply.json()))]) {
    t.is((await client.get('/api/v1/auth/me', headers)).status, 200);
  }
});
