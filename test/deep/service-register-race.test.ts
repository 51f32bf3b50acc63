import test, { type ExecutionContext } from 'ava';
import { openStores } from '../../src/composition/opening/open-stores.js';
import { makeStoreLinks } from '../../src/composition/opening/store-reports.js';
import { readConfig } from '../../src/config/config.js';
import { makeLog } from '../../src/log.js';
import { makeSeededRandom, realClock } from '../support/fakes/clock.js';
import { loseAnswers } from '../support/fakes/lossy-event-store.js';
import { makeServiceClient, type ServiceClient, signedIn } from '../support/clients/service-client.js';
import { givenInProcess, startInProcess } from '../support/servers/service-in-process.js';
import { findLogProblems, readLog } from '../support/servers/service-log-and-disk.js';
import { givenDirectory } from '../support/servers/service-process.js';

const seed = Number(process.env['DEEP_SEED'] ?? Date.now() % 1_000_000);
const budget = Number(process.env['DEEP_BUDGET'] ?? 1);
const rounds = Math.ceil(200 * budget);
const clientsPerRound = 20;

/* Password hashes are cheap here. All other parts are the service itself behind its listener. */

test.serial(
  'Of 20 clients that race to register one address, one receives 201 and the others 409',
  async (t) => {
    t.timeout(30 * 60_000 * Math.max(1, budget));
    const service = await givenInProcess(t);
    const client = makeServiceClient(service.url);
    for (let round = 0; round < rounds; round += 1) await race(t, [client], round);
    await assertOneUserAnAddress(t, service.services.eventStore);
  },
);

test.serial(
  'Two processes over one store that loses answers register only one of 20 racing clients',
  async (t) => {
    t.timeout(30 * 60_000 * Math.max(1, budget));
    t.log(`DEEP_SEED=${seed}`);
    // Given two services with separate queues and caches over one set of stores
    const directory = givenDirectory(t);
    const random = makeSeededRandom(seed);
    const config = readConfig({ DATA_DIR: directory });
    const stores = await openStores({
      config,
      links: makeStoreLinks(config, realClock),
      clock: realClock,
      random,
      logger: makeLog('silent').logger,
      onStreamDamaged: () => undefined,
      onFatal: (error) => {
        throw error;
      },
    });
    t.teardown(() => stores.close());
    const eventStore = loseAnswers(stores.eventStore, { random, share: 0.15 });
    const start = { directory, stores: { ...stores, eventStore } };
    const services = [await startInProcess(start), await startInProcess(start)];
    for (const service of services) t.teardown(() => service.close());
    const clients = services.map(({ url }) => makeServiceClient(url));
    // When clients race through both services, then exactly one registers the address each time
    for (let round = 0; round < rounds; round += 1) await race(t, clients, round);
    t.log(`${eventStore.lost()} answers were lost`);
    // The winners' own appends alone lose about half as many answers as there are rounds.
    t.true(eventStore.lost() > rounds / 10);
    await assertOneUserAnAddress(t, stores.eventStore);
  },
);

async function race(t: ExecutionContext, clients: readonly ServiceClient[], round: number): Promise<void> {
  const replies = await Promise.all(
    Array.from({ length: clientsPerRound }, (_, index) => {
      // Different spellings of one address
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
  // The winner can use the account through every process
  for (const client of clients) {
    const me = await client.get('/api/v1/auth/me', signedIn(won.json()).headers);
    t.is(me.status, 200, `round ${round}: ${me.text}`);
  }
}

/** Asserts that each address in the race has exactly one user, registered once and whole. */
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
