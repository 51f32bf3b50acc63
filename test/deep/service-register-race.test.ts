import test, { type ExecutionContext } from 'ava';
import { openStores } from '../../src/composition/open-stores.js';
import { readConfig } from '../../src/config.js';
import { makeLog } from '../../src/log.js';
import { makeSeededRandom, realClock } from '../support/clock.js';
import { loseAnswers } from '../support/lossy-event-store.js';
import { makeServiceClient, type ServiceClient, signedIn } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { findLogProblems, readLog } from '../support/service-log.js';
import { makeDataDirectory } from '../support/service-process.js';

const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
const rounds = Math.ceil(200 * budget);
const clientsPerRound = 20;

/* Password hashes are cheap here; everything else is the service itself behind its listener. */

test.serial('20 clients race to register one address: one 201, the others 409', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const service = await startInProcess({ directory: directory.path });
  t.teardown(() => service.close());
  const client = makeServiceClient(service.url);
  for (let round = 0; round < rounds; round += 1) await race(t, [client], round);
  await assertOneUserAnAddress(t, service.services.eventStore);
});

test.serial('the same through two processes over one store whose answers get lost', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  // Given two services with their own queues and caches, over one set of stores
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const random = makeSeededRandom(seed);
  const stores = await openStores({
    config: readConfig({ DATA_DIR: directory.path }),
    clock: realClock,
    random,
    logger: makeLog('silent').logger,
    onFatal: (error) => {
      throw error;
    },
  });
  t.teardown(() => stores.close());
  const eventStore = loseAnswers(stores.eventStore, { random, share: 0.15 });
  const start = { directory: directory.path, stores: { ...stores, eventStore } };
  const services = [await startInProcess(start), await startInProcess(start)];
  for (const service of services) t.teardown(() => service.close());
  const clients = services.map(({ url }) => makeServiceClient(url));
  // When clients race through both, then one of them has the address each time
  for (let round = 0; round < rounds; round += 1) await race(t, clients, round);
  t.log(`${eventStore.lost()} answers were lost`);
  // A winner's own appends alone lose about half as many as there are rounds.
  t.true(eventStore.lost() > rounds / 10);
  await assertOneUserAnAddress(t, stores.eventStore);
});

async function race(t: ExecutionContext, clients: readonly ServiceClient[], round: number): Promise<void> {
  const replies = await Promise.all(
    Array.from({ length: clientsPerRound }, (_, index) => {
      // Spellings of one address
      const email = index % 3 === 0 ? `Racer${round}@Example.org` : `racer${round}@example.ORG`;
      const client = clients[index % clients.length] as ServiceClient;
      return client.post('/api/v1/auth/register', { email, password: 'Correct-Horse-7' });
    }),
  );
  const [won, ...more] = replies.filter(({ status }) => status === 201);
  if (won === undefined || more.length > 0) {
    t.fail(`round ${round}: ${replies.map(({ status }) => status).join(' ')}`);
    return;
  }
  for (const reply of replies) {
    if (reply !== won) t.like(reply, { status: 409 }, `round ${round}: ${reply.text}`);
  }
  // The one that was told so can use the account, through every process
  for (const client of clients) {
    const me = await client.get('/api/v1/auth/me', signedIn(won.json()).headers);
    t.is(me.status, 200, `round ${round}: ${me.text}`);
  }
}

/** As many users as addresses were raced for, each registered once and whole. */
async function assertOneUserAnAddress(
  t: ExecutionContext,
  eventStore: Parameters<typeof readLog>[0],
): Promise<void> {
  const events = await readLog(eventStore);
  t.deepEqual(findLogProblems(events), []);
  const registered = events.filter(({ type }) => type === 'UserRegistered');
  t.is(registered.length, rounds);
  t.is(new Set(registered.map(({ data }) => data['email_digest'])).size, rounds);
}
