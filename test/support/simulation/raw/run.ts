import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { makeSeededRandom } from '../../fakes/clock.js';
import { openConnection, type RawExchange, takeReply } from '../../clients/http-socket.js';
import { sendRaw } from '../../clients/send-raw.js';
import { asObject, signedIn, type SignedIn } from '../../clients/service-client.js';
import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import { makeDice } from '../fuzz/shapes-and-dice.js';
import { makeCases, type RawCase, rawKinds, targetsOf } from './cases.js';

/** The longest wait for a condition. The longest limit of the service is that of an idle connection, 65 s. */
const waitMsMax = 120_000;
const otherClientPauseMs = 200;

interface RawRun {
  readonly url: string;
  /** Returns the text of the service's metrics. */
  readonly metrics: () => Promise<string>;
  readonly cases: number;
  readonly seed: number;
  /** The connections that the hostile client has open at once. */
  readonly lanes: number;
}

/**
 * Runs generated connections against the whole service, while another client uses it. Checks every reply, that the
 * other client is answered, that no request ends in `internal_error`, and that the server holds no connection at last.
 * @returns the number of connections by kind and statuses
 */
export async function runRawCases(t: ExecutionContext, run: RawRun): Promise<ReadonlyMap<string, number>> {
  const hostile = await register(run.url, 'mallory@example.org');
  const other = await register(run.url, 'ada@example.org');
  const document = await ask(run.url, '/openapi.json', { status: 200 });
  const cases = makeCases(run.cases, {
    dice: makeDice(makeSeededRandom(run.seed)),
    targets: targetsOf(document),
    authorization: `Authorization: ${hostile.headers['authorization'] ?? ''}\r\n`,
  });
  const ending = new AbortController();
  const others = useService(run.url, other, ending.signal);
  const holding = mostHeld(run.metrics, ending.signal);
  const counts = new Map<string, number>();
  const problems: string[] = [];
  const open = [...cases.entries()];
  const port = Number(new URL(run.url).port);
  await Promise.all(
    Array.from({ length: run.lanes }, async () => {
      for (let next = open.shift(); next !== undefined; next = open.shift()) {
        const [index, raw] = next;
        const { outcome, problem } = await judge(port, raw);
        const key = `${raw.kind}: ${outcome}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        if (problem !== null) problems.push(`case ${index}, ${raw.kind}: ${problem}\n${shown(raw)}`);
      }
    }),
  );
  ending.abort();
  const { answered, slowestMs } = await others;
  t.deepEqual(problems.slice(0, 10), [], `seed ${run.seed}`);
  t.is(new Set(cases.map(({ kind }) => kind)).size, rawKinds.length);
  t.true(answered > 0);
  const most = await holding;
  t.true(most > 1, `the server counted at most ${most} connections`);
  t.log(`another client had ${answered} replies meanwhile, the slowest after ${slowestMs} ms`);
  t.is(await remaining(run.metrics), 0);
  t.notRegex(await run.metrics(), /^stowage_http_failures_total\{.*\} [1-9]/m);
  return counts;
}

async function judge(port: number, raw: RawCase): Promise<{ outcome: string; problem: string | null }> {
  const connection = await openConnection(port);
  const closed = connection.closed();
  for (const { bytes, pauseMs } of raw.parts) {
    if (pauseMs > 0) await wait(pauseMs);
    if (!connection.socket.destroyed) connection.write(Buffer.from(bytes, 'latin1'));
  }
  if (raw.ending === 'reset') connection.socket.resetAndDestroy();
  if (raw.ending === 'half-close') connection.socket.end();
  const { drip } = raw;
  const dripping = drip === null ? undefined : setInterval(() => connection.write(drip.bytes), drip.everyMs);
  const exchange = await Promise.race([closed, wait(waitMsMax, null, { ref: false })]);
  clearInterval(dripping);
  connection.socket.destroy();
  if (exchange === null) return { outcome: 'open', problem: 'the server did not end the connection' };
  const { statuses } = exchange;
  const outcome = statuses.length > 4 ? `${statuses.length} replies` : `[${statuses.join()}]`;
  return { outcome, problem: raw.problemOf(statuses) ?? problemOfErrors(exchange) };
}

/** Returns the begin of the client's bytes, without its token. */
function shown({ parts, ending }: RawCase): string {
  const bytes = parts.map((part) => part.bytes).join('');
  return `${JSON.stringify(bytes.replace(/Bearer ey[\w.-]+/, 'Bearer …').slice(0, 400))}, ${ending}`;
}

/** Every refusal is JSON with a code and a sentence. */
function problemOfErrors({ text }: RawExchange): string | null {
  let left = Buffer.from(text, 'latin1');
  for (let taken = takeReply(left); taken !== null; taken = takeReply(left)) {
    const { status, headers, text: body } = taken.reply;
    left = left.subarray(taken.length);
    if (status < 400) continue;
    if (!(headers.get('content-type') ?? '').startsWith('application/json')) return `${status} is not JSON`;
    const keys = Object.keys(JSON.parse(body) as object);
    if (!keys.includes('code') || !keys.includes('message')) return `${status} has ${keys.join()}`;
  }
  return null;
}

/** Reads and writes as a well-behaved client. Rejects at the first wrong reply. */
async function useService(url: string, { headers }: SignedIn, signal: AbortSignal) {
  let [answered, slowestMs] = [0, 0];
  while (!signal.aborted) {
    const startedAt = performance.now();
    if (answered % 20 === 0 && answered < 1_800)
      await ask(url, '/api/v1/projects', { status: 201, body: { name: `Launch ${answered}` }, headers });
    else await ask(url, '/api/v1/auth/me', { status: 200, headers });
    answered += 1;
    slowestMs = Math.max(slowestMs, Math.round(performance.now() - startedAt));
    await wait(otherClientPauseMs);
  }
  return { answered, slowestMs };
}

async function register(url: string, email: string): Promise<SignedIn> {
  const body = { email, password: 'Correct-Horse-7' };
  return signedIn(await ask(url, '/api/v1/auth/register', { status: 201, body }));
}

/** Sends a request on its own connection, which ends with the reply. @throws Error when the status differs */
async function ask(url: string, path: string, { status, body, headers = {} }: Expected): Promise<JsonObject> {
  const reply = await sendRaw(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = reply.body.toString('utf8');
  if (reply.status !== status) throw new Error(`${path} was answered ${reply.status}: ${text}`);
  return asObject(JSON.parse(text));
}

interface Expected {
  readonly status: number;
  /** A body makes the request a POST. */
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads the number of connections that the server holds. */
async function heldBy(metrics: () => Promise<string>): Promise<number> {
  return Number(/^stowage_http_connections (\d+)$/m.exec(await metrics())?.[1]);
}

/** Returns the largest number of connections that the server held until the signal aborted. */
async function mostHeld(metrics: () => Promise<string>, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, await heldBy(metrics));
    await wait(otherClientPauseMs);
  }
  return most;
}

/** Waits until the server holds no connection. Returns the number that it holds then. */
async function remaining(metrics: () => Promise<string>): Promise<number> {
  const giveUpAt = performance.now() + waitMsMax;
  for (;;) {
    const held = await heldBy(metrics);
    if (held === 0 || performance.now() > giveUpAt) return held;
    await wait(50);
  }
}
