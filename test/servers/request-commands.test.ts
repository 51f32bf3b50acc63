/* Counts the commands of requests that arrive at the server of MONGODB_URL, not only the calls to the adapter. */
import test, { type ExecutionContext } from 'ava';
import type { Answer } from '../support/clients/http-app.js';
import { makeTestClock } from '../support/fakes/clock.js';
import { pluck } from '../support/given/pluck.js';
import { callsOfRequests, givenServers } from '../support/servers/calls-of-requests.js';
import { makeCountingProxy } from '../support/servers/proxies.js';
import { startTestService } from '../support/servers/http-service.js';
import { makeTestDatabase, mongoDbSuite, openStoresAt } from '../support/servers/store-servers.js';

/** Starts the service on the server, without the upkeep of a process. Its log is in memory. */
async function start(t: ExecutionContext) {
  const { name, url } = await makeTestDatabase(t);
  const { hostname: host, port } = new URL(url);
  const proxy = await makeCountingProxy({ host, port: Number(port) });
  t.teardown(() => proxy.close());
  const counted = `mongodb://127.0.0.1:${proxy.port}/${name}?directConnection=true`;
  const clock = makeTestClock();
  const mongoDb = await openStoresAt(t, counted, { clock });
  let atAppend = 0;
  const service = await startTestService(t, {
    storeOptions: {
      clock,
      wrap: (store) => ({
        ...store,
        append: (...given) => {
          atAppend = proxy.count();
          return store.append(...given);
        },
      }),
      wrapDocuments: () => mongoDb.readModelStore,
      wrapState: () => mongoDb.stateStore,
    },
  });
  /** Returns the number of commands until the reply, and until the last append before it. */
  const commandsOf = async (request: () => Promise<Answer>) => {
    const before = proxy.count();
    const answer = await request();
    t.true(answer.status < 400, answer.text);
    return { all: proxy.count() - before, beforeAppend: atAppend - before };
  };
  return { ...service, commandsOf };
}

const idIn = ({ json }: Answer): string => (json as { id: string }).id;

/** The commands of a request with its reactions and views, one after the other, in a process that has served the same clients before. */
const commandsMax: Readonly<Record<string, number>> = {
  'GET storage': 1,
  'list of assets': 2,
  'POST project': 3,
  'PATCH project': 3,
  'POST storage': 4,
  'POST asset': 4,
  refresh: 2,
  'a callback with its grant': 6,
  'a sign-in': 15,
};

mongoDbSuite(test, 'The commands of requests are counted', () => {
  test.serial('A request of a served process sends as many commands as it must', async (t) => {
    t.timeout(300_000);
    const servers = await givenServers();
    t.teardown(() => servers.stop());
    const counts = await callsOfRequests(servers);
    t.deepEqual(pluck(counts, 'what'), Object.keys(commandsMax));
    for (const { what, commands, seconds } of counts) {
      t.log(what, commands);
      // Now and then a checkpoint, the registry or the audit log is read or written meanwhile.
      const others = 0.9 + 4 * seconds;
      t.true((commands ?? Infinity) < (commandsMax[what] ?? 0) + others, `${what}: ${commands}`);
    }
  });

  test.serial('A read of a storage takes one command, and one of the own account two', async (t) => {
    const { get, post, signUp, makeProject, commandsOf } = await start(t);
    const owner = await signUp('owner');
    const url = `/api/v1/projects/${await makeProject(owner)}`;
    for (let n = 0; n < 5; n += 1) await makeProject(owner);
    const storage = await post(
      `${url}/storages`,
      {
        ...{ name: 'Originals', provider: 's3', bucket: 'originals', endpoint: 'https://s3.example.com' },
        credentials: { access_key: 'AK', secret_key: 'SK' },
      },
      owner,
    );
    const facts = { storage_id: idIn(storage), object_key: 'a', media_type: 'video/mp4', size: 7, name: 'a' };
    t.is((await post(`${url}/assets`, facts, owner)).status, 201);

    t.is((await commandsOf(() => get(`${url}/storages/${idIn(storage)}`, owner))).all, 1);
    t.is((await commandsOf(() => get('/api/v1/auth/me', owner))).all, 2);
    const me = (await get('/api/v1/auth/me', owner)).json as { data: { used_bytes: number } };
    t.is(me.data.used_bytes, 7);
  });

  test.serial('The creation of a project takes two commands before its append', async (t) => {
    const { post, signUp, commandsOf } = await start(t);
    const owner = await signUp('owner');
    const create = () => post('/api/v1/projects', { name: 'Rivers' }, owner);
    // The gate, and the ids of the user's projects.
    t.is((await commandsOf(create)).beforeAppend, 2);
    t.is((await commandsOf(create)).beforeAppend, 2);
  });
});
