import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeServiceClient, type ServiceClient, type SignedIn } from '../support/clients/service-client.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import { compare, type Comparison, describe, median } from './measure.js';

const child = fileURLToPath(new URL('./hostile-child.js', import.meta.url));
const seconds = 60;
const rounds = 2;
const sessions = 5;
const projects = 100;
/** An honest user stays below the limit of a session, 600 requests a minute. */
const honestEveryMs = 110;
const healthEveryMs = 50;
const password = 'Correct-Horse-9';
const healthGoalMs = 100;

/**
 * Measures what one account with 5 sessions and 100 projects costs others when it sends as much as its limits allow. The
 * limits are those of production. An idle round is as long, so that the account earns its whole burst again.
 */
export async function benchHostile(): Promise<readonly Comparison[]> {
  const data = await makeDataDirectory();
  const service = await startService({
    directory: data.path,
    port: await freePort(),
    environment: { LOG_LEVEL: 'silent', HASHING_NICE: '' },
  });
  try {
    const client = makeServiceClient(service.url);
    const honest = await client.register('honest@example.org', password);
    await client.post('/api/v1/projects', { name: 'Film' }, honest.headers);
    const hostile = await givenHostile(client);
    const health: number[] = [];
    const underLoad = async (): Promise<number> => {
      const load = promisify(execFile)(process.execPath, [child, service.url, String(seconds), ...hostile]);
      const [get, healthz] = await Promise.all([getP99(client, honest), healthP99(client), load]);
      health.push(healthz);
      return get;
    };
    const honestRow = await compare(
      {
        what: `p99 of an honest GET beside a hostile account, ${seconds} s`,
        anchor: 'idle',
        unit: 'ms',
        goal: { atMost: 3 },
      },
      rounds,
      { ours: underLoad, anchor: () => getP99(client, honest) },
    );
    const ours = median(health.slice(1));
    const healthRow: Comparison = {
      what: 'p99 of /healthz beside a hostile account',
      anchor: 'the goal',
      unit: 'ms',
      ours,
      anchors: healthGoalMs,
      ratio: ours / healthGoalMs,
      goal: { atMost: 1 },
    };
    process.stdout.write(`${describe(healthRow)}\n`);
    return [honestRow, healthRow];
  } catch (error) {
    throw new Error(`the bench failed; the service has written: ${service.output()}`, { cause: error });
  } finally {
    await service.stop();
    await data.remove();
  }
}

/** Returns the access tokens of an account with as many projects as it may have. */
async function givenHostile(client: ServiceClient): Promise<readonly string[]> {
  const email = 'hostile@example.org';
  const first = await client.register(email, password);
  for (let n = 0; n < projects; n += 1) {
    const { status } = await client.post('/api/v1/projects', { name: `Film ${n}` }, first.headers);
    if (status !== 201) throw new Error(`creating a project was answered ${status}`);
  }
  const tokens = [first.accessToken];
  while (tokens.length < sessions) tokens.push((await client.login(email, password)).accessToken);
  return tokens;
}

function getP99(client: ServiceClient, { headers }: SignedIn): Promise<number> {
  return p99Of(honestEveryMs, () => client.get('/api/v1/auth/me', headers));
}

function healthP99(client: ServiceClient): Promise<number> {
  return p99Of(healthEveryMs, () => client.get('/healthz'));
}

/** Sends one request after the other, and returns the 99th percentile of their times in ms. */
async function p99Of(everyMs: number, send: () => Promise<{ readonly status: number }>): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const began = performance.now();
    const { status } = await send();
    if (status !== 200) throw new Error(`an honest request was answered ${status}`);
    times.push(performance.now() - began);
    await wait(everyMs);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
