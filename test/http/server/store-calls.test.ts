import test, { type ExecutionContext } from 'ava';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { Answer } from '../../support/clients/http-app.js';
import { noting } from '../../support/fakes/around-calls.js';
import { makeTestPaymentProvider, signed } from '../../support/fakes/test-payment-provider.js';
import { storageRequest } from '../../support/clients/service-client.js';
import { agentSecret, password, startTestService } from '../../support/servers/http-service.js';

/** A call to one of the three stores, for example `documents.getEach`. */
type StoreCall = `${'log' | 'documents' | 'state'}.${string}`;

const paymentProviders = new Map([['standard', makeTestPaymentProvider()]] as const);

async function start(t: ExecutionContext) {
  const calls: StoreCall[] = [];
  const service = await startTestService(t, {
    paymentProviders,
    storeOptions: {
      wrap: (store) => noting(store, 'log', calls),
      // MongoDB detects no change of a view, so each read of it is a command.
      wrapDocuments: (store) => noting({ ...store, changeToken: () => null }, 'documents', calls),
      wrapState: (store) => noting(store, 'state', calls),
    },
  });
  /** Returns the calls until the reply, without those to create the situation. */
  const callsOf = async (request: () => Promise<Answer>): Promise<readonly StoreCall[]> => {
    calls.length = 0;
    const answer = await request();
    const noted = [...calls];
    t.true(answer.status < 400, answer.text);
    return noted;
  };
  /** Starts another process on the same stores, with empty caches. */
  const another = () => startTestService(t, { paymentProviders, stores: service.stores.anotherProcess() });
  return { ...service, callsOf, another };
}

const idIn = ({ json }: Answer): string => (json as { id: string }).id;
const gate = 'documents.getEach';

test('Reads make the documented number of calls to the stores', async (t) => {
  const { get, post, signUp, verify, makeProject, callsOf } = await start(t);
  const owner = await signUp('owner');
  await verify('owner');
  const projects: string[] = [];
  for (let n = 0; n < 30; n += 1) projects.push(await makeProject(owner));
  const url = `/api/v1/projects/${projects[0] ?? ''}`;
  for (const name of ['ada', 'bob', 'cleo']) {
    await signUp(name);
    await verify(name);
    await post(`${url}/members`, { email: `${name}@example.com`, role: 'viewer' }, owner);
  }
  const storage = await post(
    `${url}/storages`,
    {
      ...{ name: 'Originals', provider: 's3', bucket: 'originals', endpoint: 'https://s3.example.com' },
      credentials: { access_key: 'AK', secret_key: 'SK' },
    },
    owner,
  );
  const facts = { storage_id: idIn(storage), object_key: 'a', media_type: 'video/mp4', size: 7 };
  const asset = await post(`${url}/assets`, { ...facts, name: 'a' }, owner);
  const issued = await post(`${url}/api-keys`, { name: 'k', scopes: ['storage:read'] }, owner);
  const key = { 'x-api-key': (issued.json as { key: string }).key };
  const order = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider: 'standard' }, owner);

  const table: Readonly<Record<string, readonly [path: string, calls: readonly StoreCall[]]>> = {
    'GET storage': [`${url}/storages/${idIn(storage)}`, [gate]],
    'GET storages': [`${url}/storages`, [gate, 'documents.find']],
    'GET auth/me': ['/api/v1/auth/me', [gate, 'documents.getSelected']],
    'GET sessions': ['/api/v1/auth/sessions', [gate, 'documents.find']],
    // `used_bytes` of the projects is one read.
    'GET project': [url, [gate, 'documents.getMany']],
    'GET projects': ['/api/v1/projects', [gate, 'documents.find', 'documents.getMany']],
    'GET members': [`${url}/members`, [gate, 'documents.getMany']],
    'GET api-keys': [`${url}/api-keys`, [gate]],
    'GET asset': [`${url}/assets/${idIn(asset)}`, [gate]],
    'GET assets': [`${url}/assets`, [gate, 'documents.find']],
    'GET shares': [`${url}/shares`, [gate, 'documents.find']],
    'GET order': [`/api/v1/orders/${idIn(order)}`, [gate, 'documents.get']],
    'GET orders': ['/api/v1/orders', [gate, 'documents.find']],
  };
  for (const [route, [path, expected]] of Object.entries(table)) {
    t.deepEqual(await callsOf(() => get(path, owner)), expected, route);
  }
  const byKey = await callsOf(() => get(`${url}/storages/${idIn(storage)}`, key));
  t.deepEqual(byKey, ['documents.find', 'documents.get'], 'GET storage by an API key');
});

test('Writes make the documented number of calls to the stores', async (t) => {
  const { post, ask, signUp, makeProject, callsOf } = await start(t);
  const owner = await signUp('owner');
  const url = `/api/v1/projects/${await makeProject(owner)}`;
  // The user's projects are counted first, by their ids.
  const create = await callsOf(() => post('/api/v1/projects', { name: 'Rivers' }, owner));
  const made = ['log.append', 'documents.write'];
  t.deepEqual(create, [gate, 'documents.ids', ...made], 'POST project');
  const rename = await callsOf(() => ask(url, { method: 'PATCH', json: { name: 'Lakes' }, headers: owner }));
  // `used_bytes`
  t.deepEqual(rename, [gate, 'log.read', ...made, 'documents.getMany'], 'PATCH project');
  const bind = () => post(`${url}/storages`, storageRequest('Rushes'), owner);
  const stored = await bind();
  const bound = await callsOf(bind);
  t.deepEqual(bound, [gate, 'documents.find', 'state.compareAndSet', ...made], 'POST storage');
  const file = { storage_id: idIn(stored), media_type: 'video/mp4', size: 7, name: 'a' };
  const added = await callsOf(() => post(`${url}/assets`, file, owner));
  t.deepEqual(added, [gate, 'log.read', 'documents.getSelected', ...made], 'POST asset');
  const credentials = { email: 'owner@example.com', password };
  const login = await callsOf(() => post('/api/v1/auth/login', credentials));
  t.is(
    login.filter((call) => call.startsWith('documents.') && call !== 'documents.write').length,
    3,
    'login: the user, the totals of the projects, and the sessions',
  );
});

test('A creation with an Idempotency-Key reads the stream, because an earlier attempt may have made it', async (t) => {
  const { post, signUp, callsOf } = await start(t);
  const headers = { ...(await signUp('owner')), 'idempotency-key': 'rivers' };
  const calls = await callsOf(() => post('/api/v1/projects', { name: 'Rivers' }, headers));
  t.deepEqual(
    calls.filter((call) => call.startsWith('log.')),
    ['log.read', 'log.append'],
  );
});

test('A payment callback makes two calls to the log until its reply in the process that placed its order', async (t) => {
  const { ask, post, signUp, callsOf, another } = await start(t);
  const owner = await signUp('owner');
  const callbackOf = async (key: string) => {
    const order = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider: 'standard' }, owner);
    const { number } = order.json as { number: string };
    const fact = { kind: 'paid', amount: 999, currency: 'USD' } as const;
    const { body, headers } = signed({ key, told: [{ number, transaction: key, fact }] });
    return (through: typeof ask) => () =>
      through('/api/v1/payment/webhooks/standard', { method: 'POST', body, headers: { ...headers } });
  };
  const inLog = (calls: readonly StoreCall[]) => calls.filter((call) => call.startsWith('log.'));

  // Its acceptance, and the fact
  const here = await callbackOf('m1');
  t.deepEqual(inLog(await callsOf(here(ask))), ['log.append', 'log.append']);
  const again = await callsOf(here(ask));
  t.deepEqual(inLog(again), ['log.read'], 'a repetition');
  t.false(again.includes('documents.write'), 'a repetition writes no documents');

  const elsewhere = await callbackOf('m2');
  const cold = await another();
  const calls = inLog(await callsOf(elsewhere(cold.ask)));
  t.deepEqual(calls, ['log.read', 'log.append', 'log.append'], 'another process reads the order too');
});

test('Agents that ask within a second make one call to each store', async (t) => {
  const { get, callsOf, clock } = await start(t);
  const ask = () => get('/api/v1/internal/peer-list', { 'x-agent-secret': agentSecret });
  const together = async () => (await Promise.all([ask(), ask(), ask(), ask()]))[0];
  t.deepEqual(await callsOf(together), ['documents.find', 'state.list']);
  t.deepEqual(await callsOf(together), []);
  clock.advance(1_000);
  t.deepEqual(await callsOf(together), ['documents.find', 'state.list']);
});

test('A reply 304 to an agent reads no counters of checks', async (t) => {
  const { get, callsOf, clock } = await start(t);
  const headers = { 'x-agent-secret': agentSecret };
  const tag = (await get('/api/v1/internal/peer-list', headers)).headers.get('etag') ?? '';
  clock.advance(1_000);
  const unchanged = () => get('/api/v1/internal/peer-list', { ...headers, 'if-none-match': tag });
  t.deepEqual(await callsOf(unchanged), ['documents.find']);
});

test('While the counters cannot be read, a list is 503 without the entity tag of a list', async (t) => {
  const { get } = await startTestService(t, {
    storeOptions: {
      wrapState: (store) => ({ ...store, list: () => Promise.reject(new StoreUnavailable('away')) }),
    },
  });
  const reply = await get('/api/v1/internal/peer-list', { 'x-agent-secret': agentSecret });
  t.is(reply.status, 503);
  t.is(reply.headers.get('etag'), null);
});
