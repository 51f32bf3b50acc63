import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  makeServiceClient,
  type ServiceClient,
  type SignedIn,
  textOf,
} from '../support/clients/service-client.js';
import { makeDataDirectory } from '../support/servers/service-process.js';
import { compare, type Comparison } from './measure.js';
import { serveUnlimited } from './serve.js';

const clients = 200;
const accounts = 20;
const seconds = 10;
const rounds = 3;
/** The password of every account of the benchmarks. */
export const password = 'Correct-Horse-9';

/** Measures how long appends wait while many clients sign in with the hashes of production, against an idle service. */
export async function benchLogins(): Promise<readonly Comparison[]> {
  const data = await makeDataDirectory();
  const service = await serveUnlimited(join(data.path, 'data'));
  try {
    const client = makeServiceClient(service.url);
    const users: SignedIn[] = [];
    for (let n = 0; n < accounts; n += 1) users.push(await client.register(addressOf(n), password));
    const [user] = users;
    if (user === undefined) throw new Error('no user has registered');
    const comparison = await compare(
      {
        what: `p99 of creating a project while ${clients} clients sign in`,
        anchor: 'idle',
        unit: 'ms',
        goal: { atMost: 5 },
      },
      rounds,
      {
        ours: () =>
          whileSigningIn(
            (n) => signIn(client, addressOf(n)),
            () => appendP99(client, user),
          ),
        anchor: () => appendP99(client, user),
      },
    );
    return [comparison];
  } finally {
    await service.stop();
    await data.remove();
  }
}

function addressOf(n: number): string {
  return `user-${n % accounts}@example.org`;
}

/** Creates one project after the other, and deletes each, because a user may have 100. Returns the 99th percentile of the time in ms. */
async function appendP99(client: ServiceClient, user: SignedIn): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const began = performance.now();
    const created = await client.post('/api/v1/projects', { name: 'Film' }, user.headers);
    if (created.status !== 201) throw new Error(`creating a project was answered ${created.status}`);
    times.push(performance.now() - began);
    const path = `/api/v1/projects/${textOf(created.json(), 'id')}`;
    const deleted = await client.send(path, { method: 'DELETE', headers: user.headers });
    if (deleted.status !== 204) throw new Error(`deleting a project was answered ${deleted.status}`);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

/**
 * Runs clients that sign in repeatedly while something is measured.
 * @param signIn signs the n-th client in, and returns 0, or the seconds that a refusal tells it to wait
 */
export async function whileSigningIn<Figure>(
  signIn: (n: number) => Promise<number>,
  measure: () => Promise<Figure>,
): Promise<Figure> {
  const ended = new AbortController();
  setMaxListeners(clients, ended.signal);
  const loops = Array.from({ length: clients }, async (_, n) => {
    let signedIn = 0;
    while (!ended.signal.aborted) {
      const waitSeconds = await signIn(n);
      if (waitSeconds === 0) signedIn += 1;
      // The wait ends with the measurement.
      else await wait(waitSeconds * 1_000, undefined, { signal: ended.signal }).catch(() => undefined);
    }
    return signedIn;
  });
  await wait(1_000);
  const figure = await measure();
  ended.abort();
  const counts = await Promise.all(loops);
  if (counts.every((count) => count === 0)) throw new Error('no client could sign in');
  return figure;
}

/** Signs in. Any refusal except overload makes the figure worthless. */
export async function signIn(client: ServiceClient, email: string): Promise<number> {
  const reply = await client.post('/api/v1/auth/login', { email, password });
  if (reply.status === 200) return 0;
  const retryAfter = Number(reply.headers.get('retry-after'));
  if (![429, 503].includes(reply.status) || !(retryAfter > 0)) {
    throw new Error(`signing in was answered ${reply.status}: ${reply.text}`);
  }
  return retryAfter;
}
