import test from 'ava';
import { makeServiceClient, type ServiceReply } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { makeDataDirectory } from '../support/service-process.js';

const password = 'Correct-Horse-9';
const clients = 200;
/** About 20 ms a hash: long enough that the queue fills. */
const passwordScrypt = { N: 2 ** 13, r: 8, p: 1 };

const countBy = (replies: readonly ServiceReply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

test('Given 200 clients that sign in at once, then others are served meanwhile, and what is too much is told to wait', async (t) => {
  const data = await makeDataDirectory();
  const service = await startInProcess({ directory: data.path, passwordScrypt });
  t.teardown(async () => {
    await service.close();
    await data.remove();
  });
  const client = makeServiceClient(service.url);
  // One after another: of those at once, a busy machine refuses some.
  const ada = await client.register('user-0@example.com', password);
  for (let n = 1; n < 20; n += 1) await client.register(`user-${n}@example.com`, password);

  const ended = new AbortController();
  const logins = Promise.all(
    Array.from({ length: clients }, (_, n) =>
      client.post('/api/v1/auth/login', { email: `user-${n % 20}@example.com`, password }),
    ),
  ).finally(() => {
    ended.abort();
  });
  const others: ServiceReply[] = [];
  do {
    others.push(await client.get('/healthz'), await client.get('/readyz'));
    others.push(await client.post('/api/v1/projects', { name: 'Film' }, ada.headers));
  } while (!ended.signal.aborted);
  const replies = await logins;

  t.true(others.length >= 6, `${others.length} other requests were served`);
  t.true(others.every(({ status }) => status === 200 || status === 201));
  const [passed, overloaded] = [countBy(replies, 200), countBy(replies, 503)];
  t.is(passed + overloaded, clients);
  // How many are in time depends on the machine; test/security/passwords.test.ts counts those that a pool takes.
  t.true(passed > 0, 'some have signed in');
  t.true(overloaded > 0, 'and not all could');
  for (const reply of replies.filter(({ status }) => status === 503)) {
    t.is(reply.headers.get('retry-after'), '1');
    t.like(reply.json(), { code: 'overloaded' });
  }
  // Whoever was told to wait gets in afterwards.
  t.is((await client.post('/api/v1/auth/login', { email: 'user-0@example.com', password })).status, 200);
});

test('Given 200 sign-ins at once from one address, then 20 are looked at', async (t) => {
  const data = await makeDataDirectory();
  const service = await startInProcess({
    directory: data.path,
    limits: { login: { limit: 20, seconds: 86_400 } },
  });
  t.teardown(async () => {
    await service.close();
    await data.remove();
  });
  const client = makeServiceClient(service.url);
  await client.register('ada@example.com', password);
  const replies = await Promise.all(
    Array.from({ length: clients }, (_, n) =>
      client.post('/api/v1/auth/login', {
        email: n === 0 ? 'ada@example.com' : `user-${n}@example.com`,
        password,
      }),
    ),
  );
  t.is(countBy(replies, 429), clients - 20);
  t.is(countBy(replies, 200) + countBy(replies, 401), 20);
  for (const reply of replies.filter(({ status }) => status === 429)) {
    t.true(Number(reply.headers.get('retry-after')) >= 1);
  }
});
