import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import {
  type ConnectionPolicy,
  parseConnectionString,
} from '../../../src/stores/eventstoredb/connection-string.js';
import { makeClient } from '../../../src/stores/eventstoredb/client.js';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import {
  givenServer,
  openTestStore,
  startEventStoreDbServer,
} from '../../support/servers/eventstoredb-server/server.js';
import { testCertificate, testKey } from '../../support/servers/eventstoredb-server/tls.js';
import { givenDirectory } from '../../support/directories.js';

function problemsOf(url: string, policy?: ConnectionPolicy): readonly string[] {
  const parsed = parseConnectionString(url, policy);
  return 'problems' in parsed ? parsed.problems : [];
}

const accepted: readonly string[] = [
  'esdb://127.0.0.1:2113?tls=false',
  'kurrentdb://127.0.0.1:2113?tls=false',
  'kurrentdb+discover://admin:changeit@db.example.org:2113',
  'esdb://localhost?tls=false&keepAliveInterval=10000',
  'esdb://127.0.0.1:2113,127.0.0.2:2113/?tls=false&nodePreference=leader',
  'esdb://admin:changeit@db.example.org:2113',
  'esdb+discover://user:p%40ss%3Fw%26rd@cluster.example.org:2113?tlsCAFile=/etc/ca.pem&gossipTimeout=5',
];

for (const url of accepted) {
  test(`The connection string is accepted: ${url}`, (t) => t.deepEqual(problemsOf(url), []));
}

const refused: readonly [what: string, url: string, problem: RegExp, policy?: ConnectionPolicy][] = [
  ['another scheme', 'http://admin:canary@127.0.0.1:2113', /must look like kurrentdb:/],
  ['no host', 'esdb://', /must look like kurrentdb:/],
  ['a stray character in the password', 'esdb://admin:canary?&=@db.example.org', /name:port/],
  ['a broken escape', 'esdb://admin:canary%zz@db.example.org', /write % as %25/],
  ['IPv6', 'esdb://[::1]:2113?tls=false', /IPv4/],
  ['a port too large', 'esdb://localhost:70000?tls=false', /name:port/],
  ['no encryption beyond loopback', 'esdb://db.example.org:2113?tls=false', /loopback/],
  ['one host beyond loopback', 'esdb://127.0.0.1:2113,10.0.0.1:2113?tls=false', /loopback/],
  ['a name that only begins like loopback', 'esdb://127.0.0.1.example.org?tls=false', /loopback/],
  ['no user on a secured connection', 'esdb://db.example.org:2113', /user:password@/],
  ['another node preference', 'esdb://a:canary@db.example.org?nodePreference=follower', /leader/],
  ['errors as results', 'esdb://a:canary@db.example.org?throwOnAppendFailure=false', /throwOnAppendFailure/],
  ['no verification', 'esdb://a:canary@db.example.org?tlsVerifyCert=false', /tlsCAFile/],
  ['a deadline', 'esdb://a:canary@db.example.org?defaultDeadline=5', /time limit/],
  ['an unknown option', 'esdb://a:canary@db.example.org?canary=1', /not known/],
  ['an option in other spelling', 'esdb://a:canary@db.example.org?TLS=false', /not known/],
  ['an option twice', 'esdb://127.0.0.1?tls=false&tls=true', /twice/],
  ['a keep-alive below what the client allows', 'esdb://127.0.0.1?tls=false&keepAliveInterval=1000', /10000/],
  ['a word in place of a number', 'esdb://127.0.0.1?tls=false&gossipTimeout=soon', /whole number/],
  ...['esdb:*', '*', 'koa, esdb:command:grpc', 'x esdb*'].map((debug): (typeof refused)[number] => [
    `DEBUG=${debug} in production`,
    'esdb://a:canary@db.example.org',
    /DEBUG/,
    { debug, production: true },
  ]),
];

for (const [what, url, problem, policy] of refused) {
  test(`The connection string is refused with a sentence that repeats no secret: ${what}`, (t) => {
    const problems = problemsOf(url, policy);
    t.true(
      problems.some((sentence) => problem.test(sentence)),
      problems.join('; '),
    );
    t.false(problems.join().includes('canary'));
    const error = t.throws(() => openTestStore(url, policy === undefined ? {} : { policy }));
    t.false(`${error.message} ${error.stack ?? ''}`.includes('canary'));
  });
}

test('The policy ignores the messages of other packages, and those of the client outside production', (t) => {
  const url = 'esdb://127.0.0.1:2113?tls=false';
  t.deepEqual(problemsOf(url, { debug: 'koa,express:*,-esdb:*', production: true }), []);
  t.deepEqual(problemsOf(url, { debug: 'esdb:*', production: false }), []);
});

test.serial(
  'The store uses the user and the authority of the connection string for a secured node',
  async (t) => {
    const directory = givenDirectory(t);
    const authority = join(directory, 'ca.pem');
    await writeFile(authority, testCertificate);
    const server = await startEventStoreDbServer({
      tls: { certificate: testCertificate, key: testKey },
      credentials: 'stowage:p@ss:word',
    });
    t.teardown(() => server.close());
    const address = `localhost:${server.port}`;
    const given = (url: string) => {
      const store = openTestStore(url);
      t.teardown(() => store.close());
      return store;
    };
    const store = given(`esdb://stowage:p%40ss%3Aword@${address}?tlsCAFile=${authority}`);
    const stream = uniqueStream();
    t.is((await store.append(stream, 'no-stream', makeEvents(1)))?.revision, 0n);
    t.is((await store.read(stream)).length, 1);
    t.deepEqual(
      server.faults.calls.map((call) => call.kind),
      ['probe', 'append', 'read'],
    );

    const stranger = given(`esdb://stowage:canary@${address}?tlsCAFile=${authority}`);
    const error = await t.throwsAsync(stranger.read(stream), {
      instanceOf: StoreUnavailable,
      message: /rights/,
    });
    t.false(error.message.includes('canary'));

    const unverified = given(`esdb://stowage:p%40ss%3Aword@${address}`);
    await t.throwsAsync(unverified.read(stream), { instanceOf: StoreUnavailable });
  },
);

test.serial('Opening sends nothing, so a service can start while the server is away', async (t) => {
  const { server } = await givenServer(t);
  await server.network.refuse();
  const store = openTestStore(server.url);
  await t.throwsAsync(store.logId(), { instanceOf: StoreUnavailable });
  await server.network.accept();
  t.regex(await store.logId(), /^[0-9a-f-]{36}$/);
  await store.close();
});

test('A client that was shut down opens no connection', async (t) => {
  const { server } = await givenServer(t);
  const parsed = parseConnectionString(server.url);
  if ('problems' in parsed) return t.fail(parsed.problems.join('; '));
  const client = makeClient(parsed.settings, 60_000);
  await t.throwsAsync(client.shutDown(), { name: 'AbortError' });
  const anonymous = { username: 'anonymous', password: 'anonymous' };
  await t.throwsAsync(
    client.openBatchCall(anonymous, (call) => call.on('error', () => undefined)),
    { name: 'AbortError' },
  );
});

test.serial('A process that closes its store ends by itself', async (t) => {
  const { server } = await givenServer(t);
  const program = `
    const { openTestStore } = await import('${new URL('../../support/servers/eventstoredb-server/server.js', import.meta.url).href}');
    const store = openTestStore('${server.url}');
    const controller = new AbortController();
    const pages = store.subscribe({ after: null, signal: controller.signal })[Symbol.asyncIterator]();
    await store.logId();
    await pages.next();
    controller.abort();
    await store.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  t.is(code, 0);
});

test('The server is named by product and version, again after each connection', async (t) => {
  for (const [version, product] of [
    ['24.10.4', 'EventStoreDB'],
    ['26.0.3', 'KurrentDB'],
  ] as const) {
    const named: unknown[] = [];
    const onServer = (server: unknown) => named.push(server);
    const { server, store } = await givenServer(t, { version }, { onServer });
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(1));
    await eventually('the server is named', () => named.length === 1);
    server.network.cut();
    await eventually('it is named again', async () => {
      await store.read(stream).catch(() => undefined);
      return named.length > 1;
    });
    t.deepEqual(named[1], { product, version });
  }
});
