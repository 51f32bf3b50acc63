import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/domain-event.js';
import { givenFakeStorage, type FakeOperation, type Fault } from '../support/fake-storage.js';
import { startInProcess } from '../support/service-in-process.js';
import {
  makeServiceClient,
  type ServiceClient,
  type ServiceReply,
  textOf,
} from '../support/service-client.js';
import { makeDirectory } from '../support/embedded-directory.js';

interface Given {
  readonly client: ServiceClient;
  /** Path of the project's storages. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Creates a storage on the bucket at this port; its path. */
  readonly bind: (port: number, bucket?: string) => Promise<string>;
  readonly send: (method: string, path: string, body?: unknown) => Promise<ServiceReply>;
  /** Waits until a storage looks so. */
  readonly until: (path: string, status: string, also?: (storage: Storage) => boolean) => Promise<Storage>;
}

type Storage = JsonObject;

const credentials = { access_key: 'canary-access-key', secret_key: 'canary-secret-key' };

/** A service that may speak to this machine, and a project that may bind storages. */
async function givenService(t: ExecutionContext): Promise<Given> {
  const { directory, remove } = makeDirectory();
  const service = await startInProcess({
    directory,
    environment: { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' },
  });
  t.teardown(async () => {
    await service.close();
    remove();
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-9');
  const project = (await client.post('/api/v1/projects', { name: 'Rivers' }, headers)).json();
  const projectId = textOf(project, 'id');
  await service.services.commands.grantEntitlement(
    { projectId, entitlement: 'allow_s3', source: 'operator' },
    {
      commandId: '018f0000-0000-7000-8000-00000000c0de',
      causationId: 'a',
      correlationId: 'a',
      actor: 'operator',
      time: new Date(),
    },
  );
  const path = `/api/v1/projects/${projectId}/storages`;
  const send: Given['send'] = (method, to, body) =>
    client.send(to, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    client,
    path,
    headers,
    send,
    bind: async (port, bucket = 'media') => {
      const endpoint = `http://127.0.0.1:${port}`;
      const request = { name: 'Media', provider: 's3', bucket, endpoint, base_path: 'videos', credentials };
      const reply = await client.post(path, request, headers);
      t.is(reply.status, 201, reply.text);
      return `${path}/${textOf(reply.json(), 'id')}`;
    },
    until: async (at, status, also = () => true) => {
      for (let tries = 0; tries < 200; tries += 1) {
        const storage = (await client.get(at, headers)).json();
        if (storage['status'] === status && also(storage)) return storage;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error(`the storage did not become ${status}`);
    },
  };
}

const refusing = (operation: FakeOperation, code: string): Partial<Record<FakeOperation, Fault>> => ({
  [operation]: { status: 403, body: `<Error><Code>${code}</Code><Message>canary</Message></Error>` },
});

test('Given a storage that works, a test makes it active, and the first one the default', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, until } = await givenService(t);
  const at = await bind(storage.port);
  const started = await send('POST', `${at}/test`);
  t.is(started.status, 202, started.text);
  t.is(started.json()['status'], 'testing');
  const active = await until(at, 'active');
  t.like(active, { last_error: '', is_default: true });
  t.truthy(active['last_test_at']);
  t.is(storage.objects.size, 0);

  const second = await bind(storage.port);
  await send('POST', `${second}/test`);
  t.false((await until(second, 'active'))['is_default']);
  t.true((await send('POST', `${second}/default`)).json()['is_default']);
  t.false((await until(at, 'active'))['is_default']);
});

test('Given a storage that refuses, the test says why and nothing of what the provider wrote', async (t) => {
  const storage = await givenFakeStorage(t, refusing('put', 'AccessDenied'));
  const { bind, send, until } = await givenService(t);
  const at = await bind(storage.port);
  await send('POST', `${at}/test`);
  const failed = await until(at, 'failed');
  t.regex(textOf(failed, 'last_error'), /^write_denied: /);
  t.notRegex(JSON.stringify(failed), /canary/);
  t.like((await send('POST', `${at}/default`)).json(), { code: 'conflict' });
});

test('Given an active storage, another bucket takes over only once it has passed', async (t) => {
  const storage = await givenFakeStorage(t);
  const refuses = await givenFakeStorage(t, refusing('list', 'NoSuchBucket'));
  const { bind, send, until } = await givenService(t);
  const at = await bind(storage.port);
  await send('POST', `${at}/test`);
  await until(at, 'active');

  const elsewhere = { endpoint: `http://127.0.0.1:${refuses.port}`, bucket: 'lakes' };
  const tried = await send('PATCH', at, elsewhere);
  t.is(tried.status, 202, tried.text);
  t.like(tried.json(), { status: 'active', bucket: 'media' });
  const kept = await until(at, 'active', ({ last_error: error }) => error !== '');
  t.like(kept, { bucket: 'media', endpoint: `http://127.0.0.1:${storage.port}` });
  t.regex(textOf(kept, 'last_error'), /^bucket_not_found: /);

  t.is((await send('PATCH', at, { bucket: 'lakes', name: 'Lakes' })).status, 202);
  const moved = await until(at, 'active', ({ bucket }) => bucket === 'lakes');
  t.like(moved, { name: 'Lakes', last_error: '' });
});

test('Given an active storage, new credentials are proven before the old ones go', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, until } = await givenService(t);
  const at = await bind(storage.port);
  const replacement = { credentials: { access_key: 'another', secret_key: 'another secret' } };
  t.is((await send('PUT', `${at}/credentials`, replacement)).status, 200);
  await send('POST', `${at}/test`);
  const before = await until(at, 'active');
  const replaced = await send('PUT', `${at}/credentials`, replacement);
  t.is(replaced.status, 202, replaced.text);
  await until(at, 'active', ({ last_test_at: time }) => time !== before['last_test_at']);
  const wrongProvider = { credentials: { secret_id: 'a', secret_key: 'b' } };
  t.like((await send('PUT', `${at}/credentials`, wrongProvider)).json(), { code: 'invalid_request' });
});

test('A storage is disabled, enabled and deleted', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, until, client, headers } = await givenService(t);
  const at = await bind(storage.port);
  t.is((await send('POST', `${at}/disable`)).json()['status'], 'disabled');
  t.is((await send('POST', `${at}/test`)).status, 409);
  t.is((await send('POST', `${at}/enable`)).json()['status'], 'pending');
  await send('POST', `${at}/test`);
  await until(at, 'active');
  const other = await bind(storage.port);
  // The default goes last.
  t.is((await send('DELETE', at)).status, 409);
  t.is((await send('DELETE', other)).status, 204);
  t.is((await send('DELETE', at)).status, 204);
  t.is((await client.get(at, headers)).status, 404);
  t.is((await send('POST', `${at}/test`)).status, 404);
});

test('How cdn_domain is used can be read and changed', async (t) => {
  const storage = await givenFakeStorage(t);
  const { bind, send, client, headers } = await givenService(t);
  const at = await bind(storage.port);
  t.deepEqual((await client.get(`${at}/delivery`, headers)).json(), { mode: 'rewrite' });
  t.deepEqual((await send('PUT', `${at}/delivery`, { mode: 'public' })).json(), { mode: 'public' });
  t.deepEqual((await client.get(`${at}/delivery`, headers)).json(), { mode: 'public' });
  t.is((await send('PUT', `${at}/delivery`, { mode: 'sideways' })).status, 400);
});
