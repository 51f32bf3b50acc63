import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openStores } from '../support/servers/embedded-directory.js';
import { runCli, givenDirectory, givenService } from '../support/servers/service-process.js';
import { listRecords, putRecord } from '../../src/event-sourcing/ports/records.js';

/** A data directory with a view that only another release has. */
async function given(t: ExecutionContext): Promise<string> {
  const directory = givenDirectory(t);
  const stores = await openStores(directory);
  const { readModelStore } = stores;
  await readModelStore.ensureCollection('gone@7.1', ['name']);
  await putRecord(readModelStore, 'generations/gone@7', { live: 1 }, null);
  await stores.close();
  return directory;
}

/** The names of the former release's collections and records that are left. */
async function leftIn(directory: string): Promise<readonly string[]> {
  const stores = await openStores(directory);
  const { readModelStore } = stores;
  const records = await listRecords(readModelStore, 'generations/');
  const names = [...(await readModelStore.collections()), ...records.map(({ name }) => name)];
  await stores.close();
  return names.filter((name) => name.includes('gone'));
}

test('The command asks, prunes and prints what it dropped', async (t) => {
  const directory = await given(t);
  // Without a terminal and without --yes it changes nothing
  const refused = await runCli(directory, ['projection', 'prune']);
  t.is(refused.code, 2);
  t.regex(refused.stderr, /gone@7\.1, generations\/gone@7; confirm it by --yes/);
  t.deepEqual(await leftIn(directory), ['gone@7.1', 'generations/gone@7']);
  const { code, stdout } = await runCli(directory, ['projection', 'prune', '--yes', '--json']);
  t.is(code, 0);
  t.deepEqual(JSON.parse(stdout), {
    dropped_collections: ['gone@7.1'],
    dropped_records: ['generations/gone@7'],
  });
  t.deepEqual(await leftIn(directory), []);
});

test('A service that owns its read models prunes at start', async (t) => {
  const directory = await given(t);
  const service = await givenService(t, { directory });
  const { stdout } = await runCli(directory, ['projection', 'prune', '--json']);
  t.deepEqual(JSON.parse(stdout), { dropped_collections: [], dropped_records: [] });
  t.is(await service.stop(), 0);
  t.regex(service.output(), /views that this release does not have were dropped/);
  t.deepEqual(await leftIn(directory), []);
});

test('Where the service refuses the plan, the command ends with that refusal and drops nothing', async (t) => {
  // Given a service that does not read the views
  const directory = givenDirectory(t);
  const methods: (string | undefined)[] = [];
  const service = createServer(({ method }, response) => {
    methods.push(method);
    response.writeHead(503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 'unavailable', message: 'the views cannot be read' }));
  }).listen(join(directory, 'control.sock'));
  t.teardown(() => service.close());
  await once(service, 'listening');
  // When
  const { code, stderr } = await runCli(directory, ['projection', 'prune', '--yes']);
  // Then
  t.is(code, 1);
  t.regex(stderr, /the views cannot be read/);
  t.deepEqual([...new Set(methods)], ['GET']);
});
