import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeServiceClient, type ServiceClient, type SignedIn } from '../support/service-client.js';
import { freePort, makeDataDirectory, startService } from '../support/service-process.js';
import { compare, type Comparison } from './measure.js';

const clients = 200;
const measuredMs = 4_000;
const rounds = 3;
const unlimited = { limit: 1_000_000_000, seconds: 1 };
const password = 'Correct-Horse-9';

/** How long an append takes, an HTTP request with it, while many people sign in; passwords are hashed as they really are. */
export async function benchSignIns(): Promise<readonly Comparison[]> {
  const data = await makeDataDirectory();
  const limits = join(data.path, 'limits.json');
  writeFileSync(limits, JSON.stringify({ login: unlimited, session: unlimited }));
  const environment = { LIMITS_FILE: limits, LOG_LEVEL: 'silent' };
  const service = await startService({ directory: data.path, port: await freePort(), environment });
  try {
    const client = makeServiceClient(service.url);
    const user = await client.register('bench@example.org', password);
    const subject = { unit: 'ms at the 99th percentile', anchor: 'idle' };
    const whileSigningIn = async (measure: () => Promise<number>): Promise<number> => {
      const crowd = startCrowd(client);
      const p99 = await measure();
      await crowd.leave();
      return p99;
    };
    const append = (): Promise<number> => appendLatency(client, user);
    const health = (): Promise<number> => healthLatency(client);
    return [
      await compare(
        { ...subject, what: `appending while ${clients} sign in at once`, goal: { atMost: 10 } },
        rounds,
        { ours: () => whileSigningIn(append), anchor: append },
      ),
      await compare({ ...subject, what: `/healthz while ${clients} sign in at once`, goal: null }, rounds, {
        ours: () => whileSigningIn(health),
        anchor: health,
      }),
    ];
  } finally {
    await service.kill();
    await data.remove();
  }
}

/**
 * People who sign in all the time, and come back as late as they were told to. They have no account, which costs what signing
 * in costs, and each its own address, so that nobody waits for failures of another.
 */
function startCrowd(client: ServiceClient): { leave(): Promise<void> } {
  let leaving = false;
  const signIn = async (): Promise<void> => {
    while (!leaving) {
      const { status, headers, text } = await client.post('/api/v1/auth/login', {
        email: `${randomUUID()}@example.org`,
        password,
      });
      if (status === 401) continue;
      const retryAfterSeconds = Number(headers.get('retry-after'));
      if (status !== 503 || !(retryAfterSeconds > 0)) throw new Error(`${status}: ${text}`);
      await wait(retryAfterSeconds * 1_000);
    }
  };
  const everybody = Promise.all(Array.from({ length: clients }, signIn));
  return {
    leave: async () => {
      leaving = true;
      await everybody;
    },
  };
}

function appendLatency(client: ServiceClient, { headers }: SignedIn): Promise<number> {
  return percentile99(async () => {
    const reply = await client.post('/api/v1/projects', { name: randomUUID() }, headers);
    if (reply.status !== 201) throw new Error(`${reply.status}: ${reply.text}`);
  });
}

function healthLatency(client: ServiceClient): Promise<number> {
  return percentile99(async () => {
    const reply = await client.get('/healthz');
    if (reply.status !== 200) throw new Error(`${reply.status}: ${reply.text}`);
  });
}

/** @returns milliseconds that all but one of a hundred calls keep to, made one at a time */
async function percentile99(call: () => Promise<void>): Promise<number> {
  const began = performance.now();
  const durations: number[] = [];
  while (performance.now() - began < measuredMs) {
    const callBegan = performance.now();
    await call();
    durations.push(performance.now() - callBegan);
  }
  durations.sort((a, b) => a - b);
  return durations[Math.ceil(durations.length * 0.99) - 1] ?? Number.NaN;
}
