import test, { type ExecutionContext } from 'ava';
import { givenSharedStores } from '../support/servers/embedded-directory.js';
import {
  makeServiceClient,
  type ServiceClient,
  type SignedIn,
  textOf,
} from '../support/clients/service-client.js';
import { givenInProcess, makeKeptLog } from '../support/servers/service-in-process.js';
import { givenService, givenDirectory, freePort } from '../support/servers/service-process.js';

const password = 'Correct-Horse-7';

test('A full disk answers writes with 503, serves reads, and keeps acknowledged writes', async (t) => {
  // Given a service on a small disk
  const directory = givenDirectory(t);
  const small = await givenSharedStores(t, directory, { pageCountMax: 14 });
  const { lines, log } = makeKeptLog('warn');
  const service = await givenInProcess(t, { directory, stores: small, log });
  const client = makeServiceClient(service.url);
  const owner = await client.register('ada@example.org', password);
  // When clients write until it is full
  const { acknowledged, refusal } = await createUntilRefused(client, owner);
  // Then writes answer 503, and reads succeed
  t.like(refusal, { status: 503 });
  t.regex(refusal.headers.get('retry-after') ?? '', /^\d+$/);
  t.like(refusal.json(), { code: 'store_unavailable' });
  const failed = lines.filter((line) => line.includes('"request failed"'));
  t.true(failed.length > 0 && failed.every((line) => /the disk of \S+ is full; make room on it/.test(line)));
  await assertReadable(t, client, owner, acknowledged);

  // When there is room again, then writes succeed
  await service.close();
  await small.close();
  const again = await givenInProcess(t, { directory });
  const after = makeServiceClient(again.url);
  await assertReadable(t, after, owner, acknowledged);
  t.is((await after.post('/api/v1/projects', { name: 'Next' }, owner.headers)).status, 201);
});

test('A file that cannot grow ends the service with a sentence and loses no acknowledged write', async (t) => {
  // Given a process with a small limit for the size of its files
  const directory = givenDirectory(t);
  const start = { directory, port: await freePort() };
  const service = await givenService(t, { ...start, fileKibibytesMax: 400 });
  const client = makeServiceClient(service.url);
  const owner = await client.register('ada@example.org', password);
  // When clients write until a write fails
  const { acknowledged } = await createUntilRefused(client, owner);
  // Then the process ends and says what to do
  t.is(await service.exited, 1);
  t.regex(service.output(), /cannot be read or written .* Check the disk, then start the service again/);
  t.notRegex(service.output(), /^\s+at /m, 'a stack trace');
  // and a start with enough room finds every acknowledged project
  const again = await givenService(t, start);
  await assertReadable(t, client, owner, acknowledged);
  t.is(await again.stop(), 0);
});

interface Refused {
  readonly status: number;
  readonly headers: Headers;
  json(): object;
}

/** Creates projects until a reply is not 201, or none comes. */
async function createUntilRefused(
  client: ServiceClient,
  owner: SignedIn,
): Promise<{ readonly acknowledged: readonly string[]; readonly refusal: Refused }> {
  const acknowledged: string[] = [];
  for (let count = 0; count < 2_000; count += 1) {
    const reply = await client
      .post('/api/v1/projects', { name: `Project ${count}` }, owner.headers)
      .catch(() => null);
    if (reply === null) return { acknowledged, refusal: { status: 0, headers: new Headers(), json: Object } };
    if (reply.status !== 201) return { acknowledged, refusal: reply };
    acknowledged.push(textOf(reply.json(), 'id'));
  }
  throw new Error('the disk was never full');
}

async function assertReadable(
  t: ExecutionContext,
  client: ServiceClient,
  owner: SignedIn,
  ids: readonly string[],
): Promise<void> {
  t.true(ids.length > 0);
  for (const id of ids) {
    const reply = await client.get(`/api/v1/projects/${id}`, owner.headers);
    t.is(reply.status, 200, reply.text);
  }
}
