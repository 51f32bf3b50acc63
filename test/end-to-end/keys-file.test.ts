import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { makeServiceClient } from '../support/clients/service-client.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { runCli, givenDirectory, givenService } from '../support/servers/service-process.js';

test('A service on a server starts with the keys that keys init has made, and a second init changes nothing', async (t) => {
  // Given a volume without keys
  const [directory, volume] = [givenDirectory(t), givenDirectory(t)];
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const file = join(volume, 'keys.json');
  const environment = { EVENTSTOREDB_URL: server.url, KEYS_FILE: file };
  const early = await runCli(directory, ['serve'], environment);
  t.is(early.code, 1);
  t.regex(early.stderr, /keys\.json is missing.*stowage keys init makes the file that KEYS_FILE names/);
  // When the one-shot runs twice
  const first = await runCli(directory, ['--json', 'keys', 'init', file]);
  t.deepEqual(JSON.parse(first.stdout), { file, made: true }, first.stderr);
  const made = readFileSync(file, 'utf8');
  const second = await runCli(directory, ['--json', 'keys', 'init', file]);
  t.deepEqual(JSON.parse(second.stdout), { file, made: false });
  // Then the service serves with the file, which stays the first one, for its user only
  const service = await givenService(t, { directory, environment });
  await makeServiceClient(service.url).register('ada@example.org', 'Correct-Horse-7');
  t.is(await service.stop(), 0);
  t.is(readFileSync(file, 'utf8'), made);
  t.is(statSync(file).mode & 0o777, 0o600);
});

test('KEYS_FILE is refused beside embedded stores, and a file that is no key file is named', async (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'other.json');
  const embedded = await runCli(directory, ['serve'], { KEYS_FILE: file });
  t.is(embedded.code, 1);
  t.regex(embedded.stderr, /KEYS_FILE needs EVENTSTOREDB_URL or MONGODB_URL/);
  writeFileSync(file, '{}', { mode: 0o600 });
  const wrong = await runCli(directory, ['keys', 'init', file]);
  t.is(wrong.code, 1);
  t.regex(wrong.stderr, /other\.json is not a key file/);
});
