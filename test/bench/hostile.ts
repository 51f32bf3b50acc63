import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { HeaderFields, ServiceClient } from '../support/clients/service-client.js';
import { makeServiceClient, signedIn } from '../support/clients/service-client.js';
import type { HostileTask } from './hostile-child.js';
import { accounts, givenHostileScene, password } from './hostile-scene.js';
import { type Comparison, describe } from './measure.js';

const child = fileURLToPath(new URL('./hostile-child.js', import.meta.url));
/** A shorter run shows whether the bench works. */
const seconds = Number(process.env['HOSTILE_SECONDS'] ?? 60);
/** An honest user stays below the limit of a session, 600 requests a minute. */
const honestEveryMs = 110;
const healthEveryMs = 50;
/** The limit of a client is 20 a minute. */
const signInEveryMs = 4_000;
const healthGoalMs = 100;
const honest: HeaderFields = { 'x-forwarded-for': '192.0.2.1' };

/** Each attack by itself, and the last one all together: those of the table in issue 35 that the limits of an account allow. */
const kinds = [
  'lists',
  'writes',
  'audit',
  'imports',
  'bucket',
  'messages',
  'names',
  'playlists',
  'sign-ins',
  'codes',
  'share passwords',
  'callbacks',
];
/** `HOSTILE_ATTACKS=lists,audit` measures these alone, each by itself and both together. */
const chosen = process.env['HOSTILE_ATTACKS']?.split(',') ?? kinds;

interface Round {
  readonly getMs: number;
  readonly healthMs: number;
  readonly signIns: { readonly tried: number; readonly passed: number };
}

/**
 * Measures what one account with 5 sessions, 100 projects, 60 storages, its own bucket and the help of 14 strangers costs
 * others when it sends as much as the limits of production allow. Each round has an idle one before it, so that the account
 * earns its bursts again.
 */
export async function benchHostile(): Promise<readonly Comparison[]> {
  const hostile = await givenHostileScene();
  const { scene, service } = hostile;
  try {
    const client = makeServiceClient(service.url);
    const known = await signIn(client, {});
    // The first requests compile the code.
    await measure(client, known.device, 5);
    const rows: Comparison[] = [];
    const rounds: Round[] = [];
    for (const attacks of [...chosen.map((kind) => [kind]), chosen]) {
      const idle = await measure(client, known.device, seconds);
      const [attacked] = await Promise.all([
        measure(client, known.device, seconds),
        attack({ url: service.url, seconds, attacks, scene }),
      ]);
      rounds.push(attacked);
      const what = attacks.length === 1 ? String(attacks[0]) : 'all attacks together';
      rows.push(rowOf(`p99 of an honest GET beside a hostile account: ${what}`, attacked.getMs, idle.getMs));
    }
    const healthMs = Math.max(...rounds.map((round) => round.healthMs));
    const tried = rounds.reduce((sum, { signIns }) => sum + signIns.tried, 0);
    const passed = rounds.reduce((sum, { signIns }) => sum + signIns.passed, 0);
    rows.push(
      {
        ...{ what: 'p99 of /healthz beside the worst of these attacks', anchor: 'the goal', unit: 'ms' },
        ...{ ours: healthMs, anchors: healthGoalMs, ratio: healthMs / healthGoalMs, goal: { atMost: 1 } },
      },
      {
        ...{ what: 'honest sign-ins of a known device that pass', anchor: 'tried', unit: 'sign-ins' },
        ...{ ours: passed, anchors: tried, ratio: passed / tried, goal: { atLeast: 1 } },
      },
    );
    for (const row of rows.slice(-2)) process.stdout.write(`${describe(row)}\n`);
    return rows;
  } catch (error) {
    throw new Error(`the bench failed; the service has written: ${service.output()}`, { cause: error });
  } finally {
    await hostile.end();
  }
}

function rowOf(what: string, ours: number, anchors: number): Comparison {
  const row: Comparison = {
    ...{ what, anchor: 'idle', unit: 'ms', ours, anchors, ratio: ours / anchors, goal: { atMost: 3 } },
  };
  process.stdout.write(`${describe(row)}\n`);
  return row;
}

/** The attacker's machine is another one, so its work takes no time of the service on this one. */
async function attack(task: HostileTask): Promise<void> {
  const attacking = promisify(execFile)(process.execPath, [child, JSON.stringify(task)]);
  setPriority(attacking.child.pid ?? 0, constants.priority.PRIORITY_LOW);
  await attacking;
}

/** Reads as the honest user, asks for the health, and signs in from the device that the account knows. */
async function measure(client: ServiceClient, device: string | null, forSeconds: number): Promise<Round> {
  const { headers } = await signIn(client, device === null ? {} : { device_token: device });
  const endMs = performance.now() + forSeconds * 1_000;
  let [tried, passed] = [0, 0];
  const signingIn = async (): Promise<void> => {
    while (performance.now() + signInEveryMs < endMs) {
      await wait(signInEveryMs);
      tried += 1;
      const body = { email: accounts.honest, password, ...(device === null ? {} : { device_token: device }) };
      const { status, text } = await client.post('/api/v1/auth/login', body, honest);
      if (status === 200) passed += 1;
      else process.stdout.write(`an honest sign-in was answered ${status}: ${text}\n`);
    }
  };
  const [getMs, healthMs] = await Promise.all([
    p99Of(endMs, honestEveryMs, () => client.get('/api/v1/auth/me', { ...headers, ...honest })),
    p99Of(endMs, healthEveryMs, () => client.get('/healthz', honest)),
    signingIn(),
  ]);
  return { getMs, healthMs, signIns: { tried, passed } };
}

/** Signs the honest user in. The token of the device is null where the service gives none. */
async function signIn(
  client: ServiceClient,
  more: Readonly<Record<string, string>>,
): Promise<{ readonly headers: HeaderFields; readonly device: string | null }> {
  const reply = await client.post(
    '/api/v1/auth/login',
    { email: accounts.honest, password, ...more },
    honest,
  );
  if (reply.status !== 200) throw new Error(`the honest sign-in was answered ${reply.status}: ${reply.text}`);
  const data = reply.json()['data'] as { readonly device_token?: string };
  return { headers: signedIn(reply.json()).headers, device: data.device_token ?? null };
}

/** Sends one request after the other, and returns the 99th percentile of their times in ms. */
async function p99Of(
  endMs: number,
  everyMs: number,
  send: () => Promise<{ readonly status: number }>,
): Promise<number> {
  const times: number[] = [];
  while (performance.now() < endMs) {
    const began = performance.now();
    const { status } = await send();
    if (status !== 200) throw new Error(`an honest request was answered ${status}`);
    times.push(performance.now() - began);
    await wait(everyMs);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
