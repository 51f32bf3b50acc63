import test from 'ava';
import type { Logger } from 'pino';
import { checkConnections } from '../../src/composition/opening/connections.js';
import { distinctLinks, makeStoreLinks } from '../../src/composition/opening/store-reports.js';
import { ConfigProblem, readConfig } from '../../src/config/config.js';
import { openWatchedStores } from '../../src/composition/opening/open-watched-stores.js';
import type { Stores } from '../../src/composition/opening/open-stores.js';
import { realClock } from '../support/fakes/clock.js';
import { partial } from '../support/fakes/partial.js';
import { keyEnvironment } from '../support/servers/service-process.js';

const check = (environment: Readonly<Record<string, string>>): readonly string[] =>
  checkConnections(readConfig(environment));

test('Connections to this machine and connections with TLS need no warning', (t) => {
  t.deepEqual(check({}), []);
  t.deepEqual(
    check({
      EVENTSTOREDB_URL: 'esdb://127.0.0.1:2113?tls=false',
      MONGODB_URL: 'mongodb://127.0.0.1:27017/stowage',
    }),
    [],
  );
  t.deepEqual(
    check({
      EVENTSTOREDB_URL: 'esdb://ada:canary@log.example.org:2113',
      MONGODB_URL: 'mongodb://ada:canary@db.example.org/stowage?tls=true',
    }),
    [],
  );
});

test('The start warns of credentials without effect and of connections that others can read', (t) => {
  const warnings = check({
    EVENTSTOREDB_URL: 'esdb://ada:canary@127.0.0.1:2113?tls=false',
    MONGODB_URL: 'mongodb://ada:canary@db.example.org/stowage',
  });
  t.is(warnings.length, 2);
  t.regex(warnings[0] ?? '', /^EVENTSTOREDB_URL has a user and a password that protect nothing/);
  t.regex(warnings[1] ?? '', /^MONGODB_URL leads beyond this machine without TLS/);
  const [insecure] = check({ MONGODB_URL: 'mongodb://db.example.org/?tls=true&tlsInsecure=true' });
  t.regex(insecure ?? '', /^MONGODB_URL has tlsInsecure=true/);
  t.notRegex([...warnings, insecure].join(), /canary/);
});

test('The start warns of an EventStoreDB connection that others can read, beside one of ignored credentials', (t) => {
  const allowed = { EVENTSTOREDB_ALLOW_INSECURE: 'true' };
  const readable =
    'EVENTSTOREDB_URL leads beyond this machine without TLS: others on the network can read and change all data; remove tls=false';
  t.deepEqual(check({ ...allowed, EVENTSTOREDB_URL: 'esdb://log.example.org:2113?tls=false' }), [readable]);
  t.deepEqual(check({ ...allowed, EVENTSTOREDB_URL: 'esdb+discover://127.0.0.1,log2:2113?tls=false' }), [
    readable,
  ]);
  t.deepEqual(check({ ...allowed, EVENTSTOREDB_URL: 'esdb://127.0.0.1:2113?tls=false' }), []);
  const both = check({ ...allowed, EVENTSTOREDB_URL: 'esdb://ada:canary@log.example.org:2113?tls=false' });
  t.is(both.length, 2);
  t.regex(both[0] ?? '', /^EVENTSTOREDB_URL has a user and a password that protect nothing/);
  t.is(both[1], readable);
});

test('A start on EventStoreDB without verified certificates is refused, because no option allows it', (t) => {
  const EVENTSTOREDB_URL = 'esdb://ada:canary@log.example.org:2113?tlsVerifyCert=false';
  const { message } = t.throws(() => check({ EVENTSTOREDB_URL }), { instanceOf: ConfigProblem });
  t.regex(message, /^EVENTSTOREDB_URL must not have tlsVerifyCert: certificates are always verified/);
});

test('The start names every problem of both connections, without a secret', (t) => {
  const error = t.throws(
    () =>
      check({
        EVENTSTOREDB_URL: 'esdb://ada:canary@log.example.org:2113?tlsCAFile=/absent/ca.pem',
        MONGODB_URL: 'mongodb://ada:canary@db.example.org/?tls=true&tlsCAFile=/absent/ca.pem',
      }),
    { instanceOf: ConfigProblem },
  );
  const sentences = error.message.split('\n');
  t.is(sentences.length, 2);
  t.regex(sentences[0] ?? '', /^EVENTSTOREDB_URL has tlsCAFile, which names a file that cannot be read/);
  t.regex(sentences[1] ?? '', /^MONGODB_URL has tlsCAFile, which names a file that cannot be read/);
  t.notRegex(error.message, /canary/);
});

test('A link names the hosts of a store and no secret, and one MongoDB is one link', (t) => {
  const servers = {
    eventStoreDbUrl: 'esdb+discover://ada:canary@a:2113,b:2113?tls=true',
    mongoDbUrl: 'mongodb://ada:canary@db.example.org:27017/stowage?authSource=admin',
  };
  const names = distinctLinks(makeStoreLinks(servers, realClock)).map(({ name }) => name);
  t.deepEqual(names, ['EventStoreDB at a:2113,b:2113', 'MongoDB at db.example.org:27017']);
  const embedded = makeStoreLinks({ eventStoreDbUrl: undefined, mongoDbUrl: undefined }, realClock);
  t.deepEqual(
    distinctLinks(embedded).map(({ name }) => name),
    ['the event store', 'the read models', 'the state'],
  );
});

test('The start logs each warning about a connection', async (t) => {
  const config = readConfig({
    ...keyEnvironment,
    EVENTSTOREDB_URL: 'esdb://ada:canary@127.0.0.1:2113?tls=false',
  });
  const warned: unknown[] = [];
  const warn = (fields: unknown) => warned.push(fields);
  const logger = partial<Logger>({ warn: warn });
  const stores = partial<Stores>({
    eventStore: partial({}),
    readModelStore: partial({}),
    stateStore: partial({}),
  });
  await openWatchedStores(
    config,
    { stores },
    { clock: realClock, random: Math.random, log: { logger, flush: () => Promise.resolve() } },
  );
  t.deepEqual(
    warned,
    checkConnections(config).map((problem) => ({ problem })),
  );
  t.is(warned.length, 1);
});
