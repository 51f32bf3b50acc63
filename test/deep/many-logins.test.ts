import test from 'ava';
import { makeHashPool, type MeasuredHashPool } from '../../src/security/passwords/hash-pool.js';
import { makeServiceClient, type ServiceReply } from '../support/clients/service-client.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

const password = 'Correct-Horse-9';
const clients = 200;
/** A hash takes about 20 ms, so that the queue fills. */
const passwordScrypt = { N: 2 ** 13, r: 8, p: 1 };

const countBy = (replies: readonly ServiceReply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

/** A pool that counts the hashes that are in it and the hashes that it has made. */
function watched(pool: MeasuredHashPool): { readonly pool: MeasuredHashPool; pending: number; made: number } {
  const watch = {
    pool: {
      ...pool,
      hash: async (...[input, patience]: Parameters<MeasuredHashPool['hash']>) => {
        watch.pending += 1;
        try {
          const hash = await pool.hash(input, patience);
          watch.made += 1;
          return hash;
        } finally {
          watch.pending -= 1;
        }
      },
    },
    pending: 0,
    made: 0,
  };
  return watch;
}

test('A service under 200 sign-ins at once serves other requests and answers 429 beyond its queue', async (t) => {
  // Test machines are busy: no hash may be given up for that reason.
  const hashes = watched(makeHashPool({ timeLimitMs: 50_000 }));
  const service = await givenInProcess(t, { passwordScrypt, hashPool: hashes.pool });
  const client = makeServiceClient(service.url);
  // One after another: a busy machine refuses some of several at once.
  const ada = await client.register('user-0@example.com', password);
  for (let n = 1; n < 20; n += 1) await client.register(`user-${n}@example.com`, password);

  const madeBefore = hashes.made;
  let ended = false;
  /** Repeats a request; counts the replies that arrive while hashes are being made. */
  const served = { health: 0, appends: 0 };
  const keepAsking = async (
    kind: keyof typeof served,
    ask: () => Promise<ServiceReply>,
    status: number,
    atMost = Infinity,
  ) => {
    for (let asked = 0; !ended && asked < atMost; asked += 1) {
      t.is((await ask()).status, status);
      if (hashes.pending > 0) served[kind] += 1;
    }
  };
  const others = [
    keepAsking('health', () => client.get('/healthz'), 200),
    // A user may have 100 projects, and a fast machine makes more of them in this time.
    keepAsking('appends', () => client.post('/api/v1/projects', { name: 'Film' }, ada.headers), 201, 100),
  ];
  const replies: ServiceReply[] = [];
  // A disk may be slow: clients sign in until it has had time for three appends.
  for (let wave = 0; wave === 0 || (wave < 5 && served.appends < 3); wave += 1) {
    const logins = Array.from({ length: clients }, (_, n) =>
      client.post('/api/v1/auth/login', { email: `user-${n % 20}@example.com`, password }),
    );
    replies.push(...(await Promise.all(logins)));
  }
  ended = true;
  await Promise.all(others);

  const made = hashes.made - madeBefore;
  t.true(served.appends >= 3, `${served.appends} appends were acknowledged while hashes were being made`);
  // A thread that hashes answers a check only between hashes, and each check takes several turns of its event loop.
  t.true(
    served.health >= made / 6,
    `${served.health} health checks were answered in the time of ${made} hashes`,
  );
  const [passed, overloaded] = [countBy(replies, 200), countBy(replies, 503)];
  // More than the five free tries of one account may be hashed together out of its ten: those wait too.
  const putOff = countBy(replies, 429);
  t.is(passed + overloaded + putOff, replies.length);
  t.true(passed >= 34, `the pool takes 34, and ${passed} have signed in`);
  t.true(overloaded > 0, 'and not all could');
  for (const reply of replies.filter(({ status }) => status === 503)) {
    t.is(reply.headers.get('retry-after'), '1');
    t.like(reply.json(), { code: 'overloaded' });
  }
  // A client that received 429 signs in afterwards.
  t.is((await client.post('/api/v1/auth/login', { email: 'user-0@example.com', password })).status, 200);
});

test('The service checks 20 of 60 sign-ins at once from one address', async (t) => {
  const service = await givenInProcess(t, {
    limits: { login: { limit: 20, seconds: 86_400 } },
  });
  const client = makeServiceClient(service.url);
  await client.register('ada@example.com', password);
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      client.post('/api/v1/auth/login', {
        email: n === 0 ? 'ada@example.com' : `user-${n}@example.com`,
        password,
      }),
    ),
  );
  t.is(countBy(replies, 429), 40);
  t.is(countBy(replies, 200) + countBy(replies, 401), 20);
  for (const reply of replies.filter(({ status }) => status === 429)) {
    t.true(Number(reply.headers.get('retry-after')) >= 1);
  }
});
