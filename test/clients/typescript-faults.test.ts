/* Tests how clients/typescript takes lost replies, sign-ins during a refresh, and parts that a bucket refuses. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { makeStowageClient, must, type StowageClient, StowageError, uploadFile } from '#client';
import test from 'ava';
import { serve } from '../support/servers/loopback.js';

/** A promise that the test resolves. */
function makeLater<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const expired = (): Response =>
  Response.json({ code: 'token_expired', message: 'it has expired' }, { status: 401 });
const invalid = (message: string): Response =>
  Response.json({ code: 'invalid_token', message }, { status: 401 });
const unavailable = (): Response =>
  Response.json({ code: 'unavailable', message: 'later' }, { status: 503, headers: { 'retry-after': '9' } });

function tokensOf(name: string) {
  return {
    ...{ access_token: `access-${name}`, refresh_token: `refresh-${name}`, token_type: 'Bearer' as const },
    ...{ expires_in: 900, session_id: name },
  };
}

const refreshed = (name: string): Response => Response.json({ data: { tokens: tokensOf(name) } });

type Refresh = (request: Request) => Promise<Response>;

/** Makes a signed-in client whose first access token has expired. The service answers its refreshes in this order. */
function givenExpired(refreshes: readonly Refresh[], url = 'http://service.test') {
  const [waiting, bearers, bodies] = [[...refreshes], [] as (string | null)[], [] as string[]];
  const client = makeStowageClient({
    url,
    tokens: tokensOf('first') as never,
    // The limit of a refresh is the subject.
    retry: { attemptMsMax: Infinity },
    fetch: async (input) => {
      const request = input as Request;
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('/auth/refresh')) {
        bodies.push(await request.clone().text());
        const answer = waiting.shift();
        if (answer === undefined) throw new TypeError('no further refresh is expected');
        return answer(request);
      }
      if (pathname.endsWith('/auth/login')) return refreshed('other');
      if (pathname.endsWith('/auth/logout')) return new Response(null, { status: 204 });
      const bearer = request.headers.get('authorization');
      bearers.push(bearer);
      return bearer === 'Bearer access-first' ? expired() : Response.json({ items: [], next_cursor: null });
    },
  });
  return { client, bearers, bodies };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const read = ({ api }: StowageClient) => must(api.GET('/api/v1/projects', { params: { query: {} } }));

const lost: Refresh = () => Promise.reject(new TypeError('fetch failed'));

/** Answers with a body that breaks off. */
const broken: Refresh = () =>
  Promise.resolve(
    new Response(
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"data":'));
          controller.error(new TypeError('terminated'));
        },
      }),
    ),
  );

for (const [words, first] of [
  ['is lost', lost],
  ['breaks off', broken],
  ['is 503', () => Promise.resolve(unavailable())],
] satisfies [string, Refresh][]) {
  test(`A refresh whose reply ${words} is repeated with the same token`, async (t) => {
    const { client, bearers, bodies } = givenExpired([first, () => Promise.resolve(refreshed('second'))]);
    await read(client);
    t.deepEqual(bearers, ['Bearer access-first', 'Bearer access-second']);
    t.deepEqual(bodies, Array<string>(2).fill('{"refresh_token":"refresh-first"}'));
    t.is(client.tokens()?.access_token, 'access-second');
  });
}

test('A refresh without a reply is repeated after 3 s', async (t) => {
  // Given a server that accepts requests and never answers, and a process that collects garbage meanwhile
  const url = await serve(t, (request) => request.resume());
  const collecting = setInterval(collectGarbage, 500);
  t.teardown(() => clearInterval(collecting));
  const { client, bodies } = givenExpired([fetch, () => Promise.resolve(refreshed('second'))], url);
  await read(client);
  t.is(bodies.length, 2);
  t.is(client.tokens()?.access_token, 'access-second');
});

test('While the service refuses a refresh for now, requests get its reply and the session goes on', async (t) => {
  const away = () => Promise.resolve(unavailable());
  const { client } = givenExpired([away, away, away, () => Promise.resolve(refreshed('second'))]);
  for (const { reason } of (await Promise.allSettled([
    read(client),
    read(client),
  ])) as PromiseRejectedResult[])
    t.like(reason, { status: 503, code: 'unavailable' });
  t.is(client.tokens()?.access_token, 'access-first');
  await read(client);
  t.is(client.tokens()?.access_token, 'access-second');
});

for (const [words, refresh, kept] of [
  ['that has ended elsewhere is over here too', () => invalid('the session has ended'), null],
  ['whose access token holds no longer gets new ones', () => refreshed('second'), tokensOf('second')],
] satisfies [string, () => Response, unknown][]) {
  test(`A session ${words}, at the next request`, async (t) => {
    const all: unknown[] = [];
    const client = makeStowageClient({
      url: 'http://service.test',
      tokens: tokensOf('first') as never,
      onTokens: (tokens) => all.push(tokens),
      fetch: (input) => {
        const request = input as Request;
        if (request.url.endsWith('/auth/refresh')) return Promise.resolve(refresh());
        const isNew = request.headers.get('authorization') === 'Bearer access-second';
        return Promise.resolve(
          isNew ? Response.json({ items: [] }) : invalid('the access token is not valid'),
        );
      },
    });
    const reading = read(client);
    if (kept === null) await t.throwsAsync(reading, { message: 'the access token is not valid' });
    else await reading;
    t.deepEqual(all, [tokensOf('first'), kept]);
  });
}

test('An attempt without a time limit waits for its reply', async (t) => {
  const url = await serve(t, (request, response) => {
    request.resume();
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}'), 50);
  });
  const client = makeStowageClient({ url, apiKey: 'k', retry: { attemptsMax: 1, attemptMsMax: Infinity } });
  t.deepEqual((await read(client)).items, []);
});

test('An address with a slash at its end is that of the service', async (t) => {
  const { client } = givenExpired(
    [
      (request) => {
        t.is(request.url, 'http://service.test/api/v1/auth/refresh');
        return Promise.resolve(refreshed('second'));
      },
    ],
    'http://service.test/',
  );
  await read(client);
});

test('A creation whose reply breaks off is repeated with the same key', async (t) => {
  const keys: (string | null)[] = [];
  const { api } = makeStowageClient({
    ...{ url: 'http://service.test', apiKey: 'k' },
    fetch: (input) => {
      const request = input as Request;
      keys.push(request.headers.get('idempotency-key'));
      return keys.length === 1
        ? broken(request)
        : Promise.resolve(Response.json({ id: 'p' }, { status: 201 }));
    },
  });
  t.like(await must(api.POST('/api/v1/projects', { body: { name: 'Rhine' } })), { id: 'p' });
  t.is(keys.length, 2);
  t.is(keys[0], keys[1]);
});

test('After three lost replies a refresh ends, and the next request tries again', async (t) => {
  const { client, bodies } = givenExpired([lost, lost, lost, () => Promise.resolve(refreshed('second'))]);
  await t.throwsAsync(read(client), { message: 'fetch failed' });
  t.is(bodies.length, 3);
  t.is(client.tokens()?.access_token, 'access-first');
  await read(client);
  t.is(client.tokens()?.access_token, 'access-second');
});

for (const [words, reply] of [
  ['succeeds', () => refreshed('second')],
  ['is refused', () => Response.json({ code: 'invalid_token', message: 'no' }, { status: 401 })],
] satisfies [string, () => Response][]) {
  test(`A refresh that ${words} after another sign-in changes nothing`, async (t) => {
    const began = makeLater<undefined>();
    const answer = makeLater<Response>();
    const { client, bearers } = givenExpired([
      () => {
        began.resolve(undefined);
        return answer.promise;
      },
    ]);
    const reading = read(client);
    await began.promise;
    await client.signIn({ email: 'other@example.org', password: 'Correct-Horse-9' });
    answer.resolve(reply());
    // The request of the former account is not sent with the tokens of the other one
    await t.throwsAsync(reading, { instanceOf: StowageError, message: 'it has expired' });
    t.deepEqual(bearers, ['Bearer access-first']);
    t.is(client.tokens()?.access_token, 'access-other');
  });
}

test('After one part has failed for good, the other parts end', async (t) => {
  const seen = new Map<string, IncomingMessage>();
  const second = makeLater<IncomingMessage>();
  const origin = await serve(t, (request, response) => {
    const path = request.url ?? '';
    seen.set(path, request);
    request.resume();
    // The second part gets no answer. The first one is refused as soon as both are under way.
    if (path === '/2') second.resolve(request);
    else void second.promise.then(() => response.writeHead(403).end());
  });
  const parts = [1, 2, 3].map((number) => ({ part_number: number, size: 4, url: `${origin}/${number}` }));
  const upload = { id: 'u', part_size: 4, part_count: 3, parts, next_after: null };
  const file = new Blob([Buffer.alloc(2 ** 24)]);
  const client = makeStowageClient({
    url: 'http://service.test',
    apiKey: 'k',
    fetch: (input) =>
      Promise.resolve(
        (input as Request).method === 'GET'
          ? Response.json({ id: 'a', size: file.size, warnings: [] })
          : Response.json(upload, { status: 201 }),
      ),
  });
  const uploading = uploadFile(client.api, { projectId: 'p', assetId: 'a' }, file, {
    ...{ atOnce: 2, triesMax: 1 },
  });
  await t.throwsAsync(uploading, { message: 'part 1 was not stored: the bucket answered 403' });
  const { socket } = await second.promise;
  if (!socket.destroyed) await once(socket, 'close');
  t.deepEqual([...seen.keys()].sort(), ['/1', '/2']);
});

test('A sign-out from a session that has ended already ends it here too', async (t) => {
  // Given a session that another device has ended
  const kept: unknown[] = [];
  const client = makeStowageClient({
    url: 'http://service.test',
    tokens: tokensOf('first') as never,
    onTokens: (tokens) => kept.push(tokens),
    fetch: () =>
      Promise.resolve(
        Response.json({ code: 'invalid_token', message: 'the session has ended' }, { status: 401 }),
      ),
  });
  // When the user signs out
  await client.signOut();
  // Then the program keeps no tokens
  t.is(client.tokens(), null);
  t.is(kept.at(-1), null);
});

/** Uploads a file in one part to a service that answers each attempt to join the parts in turn. */
function uploadWhere(completions: readonly (() => Promise<Response>)[]) {
  const file = new Blob([Buffer.alloc(2 ** 24)]);
  const waiting = [...completions];
  const asked: string[] = [];
  let entity_tag = '"before"';
  const asset = () => ({
    ...{ id: 'a', size: file.size, upload: 'complete', warnings: [] },
    object: { size: file.size, entity_tag, media_type: null, sha256: null },
  });
  const parts = [{ part_number: 1, size: file.size, url: null }];
  const { api } = makeStowageClient({
    ...{ url: 'http://service.test', apiKey: 'k' },
    fetch: async (input) => {
      const { method, url } = input as Request;
      const { pathname } = new URL(url);
      asked.push(`${method} ${pathname.split('/').at(-1)}`);
      if (pathname.endsWith('/complete')) {
        const completion = waiting.shift();
        if (completion === undefined)
          return Response.json({ code: 'not_found', message: 'it is over' }, { status: 404 });
        return completion();
      }
      if (method === 'GET') return Response.json(asset());
      return Response.json({ id: 'u', part_size: file.size, part_count: 1, parts, next_after: null });
    },
  });
  const uploaded = uploadFile(api, { projectId: 'p', assetId: 'a' }, file);
  return {
    uploaded,
    asked,
    join: () => {
      entity_tag = '"after"';
    },
  };
}

test('An upload in parts ends although the bucket was away when its parts were joined', async (t) => {
  const joined = () => Promise.resolve(Response.json({ id: 'a', upload: 'complete' }));
  const away = () =>
    Promise.resolve(
      Response.json(
        { code: 'bucket_unavailable', message: 'later' },
        { status: 503, headers: { 'retry-after': '0' } },
      ),
    );
  const { uploaded } = uploadWhere([away, joined]);
  t.like(await uploaded, { id: 'a', upload: 'complete' });
});

test('An upload in parts ends although the reply to the joined parts was lost', async (t) => {
  // Given a service that joins the parts, and whose reply is lost
  let join = (): void => undefined;
  const lostReply = () => {
    join();
    return Promise.reject(new TypeError('fetch failed'));
  };
  const upload = uploadWhere([lostReply]);
  ({ join } = upload);
  // Then the client finds the new object, and sends no part again
  t.like(await upload.uploaded, { object: { entity_tag: '"after"' } });
  t.is(upload.asked.filter((one) => one === 'POST uploads').length, 1);
});

test('An upload in parts that the bucket has lost is refused', async (t) => {
  const { uploaded } = uploadWhere([() => Promise.reject(new TypeError('fetch failed'))]);
  await t.throwsAsync(uploaded, { instanceOf: StowageError, message: 'it is over' });
});

for (const [words, path] of [
  ['A second factor', '/api/v1/auth/2fa/verify'],
  ['A sign-in by a mailed code', '/api/v1/auth/email-code/login'],
  ['A sign-in by a passkey', '/api/v1/auth/passkey-login'],
] as const) {
  test(`${words} gives the client its tokens, so that no replaced one ends the session later`, async (t) => {
    // Given a session whose tokens the reply replaces
    const kept: unknown[] = [];
    const asked: string[] = [];
    const client = makeStowageClient({
      url: 'http://service.test',
      tokens: tokensOf('first') as never,
      onTokens: (tokens) => kept.push(tokens),
      fetch: async (input) => {
        const request = input as Request;
        const { pathname } = new URL(request.url);
        if (pathname === path)
          return Response.json({ data: { tokens: tokensOf('second'), device_token: 'd' } });
        if (!pathname.endsWith('/auth/refresh'))
          return request.headers.get('authorization') === 'Bearer access-third'
            ? Response.json({ items: [], next_cursor: null })
            : expired();
        asked.push(await request.text());
        return refreshed('third');
      },
    });
    // When the reply comes, and its access token expires later
    await must(client.api.POST(path, { body: { code: '123456' } as never }));
    t.deepEqual(kept.at(-1), tokensOf('second'));
    await read(client);
    // Then the client refreshes by the new token
    t.deepEqual(asked, ['{"refresh_token":"refresh-second"}']);
  });
}

test.serial('A page that came over http creates something too', async (t) => {
  // Given what browsers leave out there
  const whole = { randomUUID: crypto.randomUUID.bind(crypto) };
  t.teardown(() => Object.assign(crypto, whole));
  Object.assign(crypto, { randomUUID: undefined });
  const keys: (string | null)[] = [];
  const { api } = makeStowageClient({
    ...{ url: 'http://service.test', apiKey: 'k' },
    fetch: (input) => {
      keys.push((input as Request).headers.get('idempotency-key'));
      return Promise.resolve(Response.json({ id: 'p' }, { status: 201 }));
    },
  });
  // Then each creation has another key
  for (const name of ['Rhine', 'Main']) await must(api.POST('/api/v1/projects', { body: { name } }));
  t.is(new Set(keys).size, 2);
  t.regex(keys.join(' '), /^[0-9a-f]{32} [0-9a-f]{32}$/);
});
