import test from 'ava';
import { type HashPool, makeHashPool } from '../../src/security/hash-pool.js';
import { makeServiceClient, type ServiceReply } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { makeDataDirectory } from '../support/service-process.js';

const password = 'Correct-Horse-9';
const clients = 200;
/** About 20 ms a hash: long enough that the queue fills. */
const passwordScrypt = { N: 2 ** 13, r: 8, p: 1 };

const countBy = (replies: readonly ServiceReply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

/** A pool that tells how many hashes are in it, and how many were made. */
function watched(pool: HashPool): { readonly pool: HashPool; pending: number; made: number } {
  const watch = {
    pool: {
      ...pool,
      hash: async (...[input, patience]: Parameters<HashPool['hash']>) => {
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

test('Given 200 clients that sign in at once, then others are served meanwhile, and what is too much is told to wait', async (t) => {
  const data = await makeDataDirectory();
  // Machines that run tests are busy: no hash may be given up because of that.
  const hashes = watched(makeHashPool({ timeLimitMs: 50_000 }));
  const service = await startInProcess({ directory: data.path, passwordScrypt, hashPool: hashes.pool });
  t.teardown(async () => {
    await service.close();
    await data.remove();
  });
  const client = makeServiceClient(service.url);
  // One after another: of those at once, a busy machine refuses some.
  const ada = await client.register('user-0@example.com', password);
  for (let n = 1; n < 20; n += 1) await client.register(`user-${n}@example.com`, password);

  const madeBefore = hashes.made;
  let ended = false;
  /** Asks again and again; how many of the replies came while hashes were being made. */
  const served = { health: 0, appends: 0 };
  const keepAsking = async (kind: keyof typeof served, ask: () => Promise<ServiceReply>, status: number) => {
    while (!ended) {
      t.is((await ask()).status, status);
      if (hashes.pending > 0) served[kind] += 1;
    }
  };
  const others = [
    keepAsking('health', () => client.get('/healthz'), 200),
    keepAsking('appends', () => client.post('/api/v1/projects', { name: 'Film' }, ada.headers), 201),
  ];
  const replies: ServiceReply[] = [];
  // A disk may be slow: clients sign in until it has had the time for three appends.
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
  // A thread that hashes itself answers a check only between hashes, and each check takes several turns of its loop.
  t.true(
    served.health >= made / 6,
    `${served.health} health checks were answered in the time of ${made} hashes`,
  );
  const [passed, overloaded] = [countBy(replies, 200), countBy(replies, 503)];
  // Of one account's ten, more than the five tries that are free may come to be hashed together: those wait, too.
  const putOff = countBy(replies, 429);
  t.is(passed + overloaded + putOff, replies.length);
  t.true(passed >= 34, `the pool takes 34, and ${passed} have signed in`);
  t.true(overloaded > 0, 'and not all could');
  for (const reply of replies.filter(({ status }) => status === 503)) {
    t.is(reply.headers.get('retry-after'), '1');
    t.like(reply.json(), { code: 'overloaded' });
  }
  // Whoever was told to wait gets in afterwards.
  t.is((await client.post('/api/v1/auth/login', { email: 'user-0@example.com', password })).status, 200);
});

test('Given 60 sign-ins at once from one address, then 20 are looked at', async (t) => {
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
