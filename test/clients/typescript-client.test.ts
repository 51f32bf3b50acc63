/* Tests clients/typescript in Node against a served process. test/servers/example-app.test.ts tests it in a browser. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { makeStowageClient, must, pages, type StowageClient, StowageError, uploadFile } from '#client';
import test from 'ava';
import { makeDirectory } from '../support/directories.js';
import { eventually } from '../support/eventually.js';
import { type FakeStorage, givenFakeStorage } from '../support/fakes/fake-storage.js';
import { freePort, type ServiceProcess, startService } from '../support/servers/service-process.js';
import { grantStorage } from '../support/clients/service-client.js';

const mebibyte = 2 ** 20;

const { directory, remove } = makeDirectory();
let started: Promise<ServiceProcess> | undefined;

/** Starts the service for all tests: a start takes longer than they do. */
async function givenServed(): Promise<ServiceProcess> {
  const environment = { SMTP_URL: 'log:', STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' };
  started ??= freePort().then((port) => startService({ directory, port, environment }));
  return started;
}

test.after.always('The service ends', async () => {
  await (await started)?.kill();
  remove();
});

const accountOf = (name: string) => ({ email: `${name}@example.org`, password: 'Correct-Horse-9' });
let accounts = 0;

/** Registers another account, and verifies its address by the code in the log of the service. */
async function givenVerified(): Promise<StowageClient> {
  const service = await givenServed();
  const client = makeStowageClient({ url: service.url });
  const account = accountOf(`uploader-${(accounts += 1)}`);
  await client.register(account);
  const mailed = new RegExp(`"to":"${account.email}".*?\\b(\\d{6})\\b`);
  const code = await eventually('a code is mailed', () => mailed.exec(service.output())?.[1]);
  await must(client.api.POST('/api/v1/auth/email/verify', { body: { code } }));
  return client;
}

function addProject({ api }: StowageClient, name: string) {
  return must(api.POST('/api/v1/projects', { params: {}, body: { name } }));
}

/** Adds an asset in a storage of the project, which the bucket serves. */
async function givenAsset(client: StowageClient, storage: FakeStorage, size: number) {
  const { api } = client;
  const { id: projectId } = await addProject(client, 'Rivers');
  await grantStorage(directory, projectId);
  const path = { projectId };
  const bound = await must(
    api.POST('/api/v1/projects/{projectId}/storages', {
      params: { path },
      body: {
        ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'us-east-1' },
        endpoint: `http://127.0.0.1:${storage.port}`,
        credentials: { access_key: 'a-key', secret_key: 'a-secret' },
      },
    }),
  );
  const storagePath = { ...path, storageId: bound.id };
  await must(
    api.POST('/api/v1/projects/{projectId}/storages/{storageId}/test', {
      params: { path: storagePath },
      body: {},
    }),
  );
  for (let status = 'testing'; status !== 'active';) {
    if (status === 'failed') throw new Error('the test of the storage failed');
    const read = api.GET('/api/v1/projects/{projectId}/storages/{storageId}', {
      params: { path: storagePath },
    });
    ({ status } = await must(read));
  }
  const asset = await must(
    api.POST('/api/v1/projects/{projectId}/assets', {
      params: { path },
      // The first storage becomes the default one a moment after its test.
      body: { storage_id: bound.id, name: 'Rhine', object_key: 'rhine.mp4', media_type: 'video/mp4', size },
    }),
  );
  return { projectId, assetId: asset.id };
}

test('A signed-in client creates projects and reads them page by page', async (t) => {
  const { url } = await givenServed();
  const account = accountOf('reader');
  const client = makeStowageClient({ url });
  await client.register(account);
  for (const name of ['Rhine', 'Main', 'Aare']) await addProject(client, name);
  const cursors: (string | undefined)[] = [];
  const read = (cursor: string | undefined) => {
    cursors.push(cursor);
    const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
    return must(client.api.GET('/api/v1/projects', { params: { query } }));
  };
  const names: string[] = [];
  for await (const { name } of pages(read)) names.push(name);
  t.deepEqual(names.sort(), ['Aare', 'Main', 'Rhine']);
  t.is(cursors.length, 2);
  // When the loop ends early, then no further page is read
  for await (const { name } of pages(read)) {
    t.truthy(name);
    break;
  }
  t.is(cursors.length, 3);
  await client.signOut();
  t.is(client.tokens(), null);
  const error = await t.throwsAsync(addProject(client, 'Elbe'), { instanceOf: StowageError });
  t.like(error, { status: 401, code: 'unauthorized' });
  t.truthy(error.requestId);
});

test('An error names the wrong fields', async (t) => {
  const { url } = await givenServed();
  const strange = 'prénom "x\\';
  const body = { email: 'ada', password: 'Correct-Horse-7', [strange]: 1 } as never;
  const { api } = makeStowageClient({ url });
  const error = await t.throwsAsync(must(api.POST('/api/v1/auth/register', { body })), {
    instanceOf: StowageError,
  });
  t.like(error, { status: 400, code: 'invalid_request' });
  t.regex(error.message, /^email must be an e-mail address .*; prénom "x\\ is unknown$/);
  const [email = '', unknown = ''] = error.message.split('; ');
  t.deepEqual(error.fields, [
    { field: 'email', code: 'format', message: email },
    { field: strange, code: 'unknown', message: unknown },
  ]);
  const unsigned = await t.throwsAsync(must(api.GET('/api/v1/auth/me')), { instanceOf: StowageError });
  t.like(unsigned, { code: 'unauthorized', fields: [] });
});

test('Requests that find the access token expired share one refresh, and a refused refresh signs out', async (t) => {
  const { url } = await givenServed();
  const account = accountOf('refresher');
  const kept: (string | null)[] = [];
  let expired: string | undefined;
  let refreshes = 0;
  const client = makeStowageClient({
    url,
    onTokens: (tokens) => kept.push(tokens?.access_token ?? null),
    fetch: async (input) => {
      const request = input as Request;
      if (request.url.endsWith('/auth/refresh')) refreshes += 1;
      if (expired !== undefined && request.headers.get('authorization') === `Bearer ${expired}`)
        return Response.json({ code: 'token_expired', message: 'it has expired' }, { status: 401 });
      return fetch(request);
    },
  });
  const first = await client.register(account);
  expired = first.access_token;
  const read = () => must(client.api.GET('/api/v1/projects', { params: { query: {} } }));
  await Promise.all(Array.from({ length: 5 }, read));
  t.is(refreshes, 1);
  t.is(kept.length, 2);
  t.not(client.tokens()?.refresh_token, first.refresh_token);
  // When the refresh token is not one of the service
  expired = 'stale';
  const stranger = makeStowageClient({
    url,
    tokens: { ...first, access_token: 'stale', refresh_token: 'r1.unknown' },
    onTokens: (tokens) => kept.push(tokens?.access_token ?? null),
    fetch: async (input) => {
      const request = input as Request;
      return request.headers.get('authorization') === 'Bearer stale'
        ? Response.json({ code: 'token_expired', message: 'it has expired' }, { status: 401 })
        : fetch(request);
    },
  });
  const refused = must(stranger.api.GET('/api/v1/projects', { params: { query: {} } }));
  await t.throwsAsync(refused, { instanceOf: StowageError, message: 'it has expired' });
  t.is(stranger.tokens(), null);
  t.is(kept.at(-1), null);
});

test('A repeated request has the same Idempotency-Key and waits as long as Retry-After says', async (t) => {
  const { url } = await givenServed();
  const account = accountOf('repeater');
  const keys: (string | null)[] = [];
  let [losesReply, refusal] = [false, null as Response | null];
  const client = makeStowageClient({
    url,
    retry: { waitMsMax: 5_000 },
    fetch: async (input) => {
      const request = input as Request;
      keys.push(request.headers.get('idempotency-key'));
      const refused = refusal;
      refusal = null;
      if (refused !== null) return refused;
      const reply = await fetch(request);
      if (!losesReply) return reply;
      losesReply = false;
      throw new TypeError('fetch failed');
    },
  });
  await client.register(account);
  // When the reply of a create is lost, then one project exists
  keys.length = 0;
  losesReply = true;
  const { id } = await addProject(client, 'Rhine');
  t.is(keys.length, 2);
  t.is(keys[0], keys[1]);
  const { items } = await must(client.api.GET('/api/v1/projects', { params: { query: {} } }));
  t.deepEqual(
    items.map((project) => project.id),
    [id],
  );
  // When the reply of a sign-in is lost, then it is not sent again
  keys.length = 0;
  losesReply = true;
  await t.throwsAsync(client.signIn(account), { instanceOf: TypeError });
  t.deepEqual(keys, [null]);
  // When the service refuses for a second
  const busy = (seconds: string) =>
    Response.json(
      { code: 'rate_limited', message: 'later' },
      { status: 429, headers: { 'retry-after': seconds } },
    );
  keys.length = 0;
  refusal = busy('1');
  const beganMs = performance.now();
  await client.signIn(account);
  t.true(performance.now() - beganMs >= 999);
  t.is(keys.length, 2);
  // When the wait would be too long, then the caller gets the refusal
  refusal = busy('60');
  await t.throwsAsync(client.signIn(account), { instanceOf: StowageError, message: 'later' });
});

test('An interrupted upload goes on with the parts that the bucket does not have', async (t) => {
  const [storage, client] = [await givenFakeStorage(t), await givenVerified()];
  const file = new Blob([Buffer.alloc(40 * mebibyte, 'Rhine')]);
  const target = await givenAsset(client, storage, file.size);
  // When the program stops the upload after the first part
  const stop = new AbortController();
  const onProgress = (sent: number) => {
    if (sent >= 16 * mebibyte) stop.abort(new Error('stopped'));
  };
  const stopped = uploadFile(client.api, target, file, { atOnce: 1, signal: stop.signal, onProgress });
  await t.throwsAsync(stopped, { message: 'stopped' });
  const putsOf = () => storage.requests.filter((one) => one === 'PUT /rushes/rhine.mp4').length;
  t.is(putsOf(), 1);
  // When it uploads the same file again
  const progress: number[] = [];
  const asset = await uploadFile(client.api, target, file, { onProgress: (sent) => progress.push(sent) });
  // Then two parts follow, and the object is whole
  t.is(putsOf(), 3);
  t.is(progress[0], 16 * mebibyte);
  t.is(progress.at(-1), file.size);
  t.is(asset.upload, 'complete');
  t.true(storage.objects.get('/rushes/rhine.mp4')?.body.equals(Buffer.from(await file.arrayBuffer())));
});

for (const [words, bytes, faults] of [
  ['A small file', 2 ** 24 - 1, {}],
  ['A file for a bucket without uploads in parts', 2 ** 24, { parts: { status: 501 } }],
] as const) {
  test(`${words} is uploaded in one request`, async (t) => {
    const [storage, client] = [await givenFakeStorage(t, faults), await givenVerified()];
    const target = await givenAsset(client, storage, bytes);
    const progress: number[] = [];
    const options = { onProgress: (sent: number) => progress.push(sent) };
    const asset = await uploadFile(client.api, target, new Blob([Buffer.alloc(bytes)]), options);
    t.like(asset, { upload: 'complete', object: { size: bytes, media_type: 'video/mp4' } });
    t.is(storage.requests.filter((one) => one === 'PUT /rushes/rhine.mp4').length, 1);
    t.is(progress.at(-1), bytes);
  });
}

test('A file of another size than its asset is refused before a byte is sent', async (t) => {
  const [storage, client] = [await givenFakeStorage(t), await givenVerified()];
  const target = await givenAsset(client, storage, 20);
  for (const bytes of [0, 19, 21, 17 * mebibyte]) {
    const upload = uploadFile(client.api, target, new Blob([Buffer.alloc(bytes)]));
    await t.throwsAsync(upload, { message: `the file has ${bytes} bytes, and the asset has 20` });
  }
  t.deepEqual(
    storage.requests.filter((one) => /^PUT .*rhine/.test(one)),
    [],
  );
});

test('The package contains the compiled client and its types, and nothing else', async (t) => {
  const run = promisify(execFile);
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: 'clients/typescript' });
  const [packed] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  for (const path of ['package.json', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'dist/document.d.ts'])
    t.true(paths.includes(path), path);
  t.deepEqual(
    paths.filter(
      (path) => !/^(package\.json|README\.md|LICENSE|NOTICE|dist\/[\w-]+(\.d\.ts|\.js))$/.test(path),
    ),
    [],
  );
});
