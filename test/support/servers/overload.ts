import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { takeReply } from '../clients/http-socket.js';
import { makeServiceClient, type SignedIn } from '../clients/service-client.js';

/** What a load was answered. */
interface Overload {
  /** Replies by status and code; `not sent` where no connection had room. */
  readonly counts: ReadonlyMap<string, number>;
  /** 503 without `Retry-After`, and connections that broke off. */
  readonly flaws: readonly string[];
  /** The times of replies that are not 503, and those of `/healthz` and `/readyz`, in ms. */
  readonly answeredMs: readonly number[];
  readonly healthMs: readonly number[];
}

export const unlimitedRates = Object.fromEntries(
  ['session', 'user', 'register'].map((name) => [name, { limit: 1_000_000, seconds: 60 }]),
);

/** `inFlight`: the requests that always wait for an answer. `perSecond`: those that begin, answered or not. */
type Load = { readonly seconds: number } & ({ readonly inFlight: number } | { readonly perSecond: number });

/**
 * Sends requests of users for a time, two on each connection at most where their number in flight is given: a service has 1,000
 * connections. A third of them makes projects, and the others read.
 */
export async function overload(url: string, users: readonly SignedIn[], load: Load): Promise<Overload> {
  const end = performance.now() + load.seconds * 1_000;
  const [counts, flaws] = [new Map<string, number>(), [] as string[]];
  const [answeredMs, healthMs]: [number[], number[]] = [[], []];
  const port = Number(new URL(url).port);
  let sent = 0;
  const nextRequest = (): string => {
    sent += 1;
    const head = `HTTP/1.1\r\nHost: a\r\nAuthorization: ${users[sent % users.length]?.headers['authorization'] ?? ''}\r\n`;
    const body = JSON.stringify({ name: `project ${sent}` });
    const made = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    if (sent % 3 === 0) return `POST /api/v1/projects ${head}${made}`;
    return `GET ${sent % 3 === 1 ? '/api/v1/projects?limit=100' : '/api/v1/auth/me'} ${head}\r\n`;
  };
  const count = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  const note = (status: number, text: string, hasRetryAfter: boolean, tookMs: number): void => {
    const { code = '' } = status >= 400 ? (JSON.parse(text) as { code?: string }) : {};
    count(`${status} ${code}`.trim());
    if (status !== 503) answeredMs.push(tookMs);
    else if (!hasRetryAfter) flaws.push(`no Retry-After: ${text}`);
  };
  /** Opens a connection. `again` sends a request after each reply, until the end. */
  const openLane = (again: boolean) => {
    const socket = connect(port, '127.0.0.1');
    const begunMs: number[] = [];
    let received = Buffer.alloc(0);
    const send = (): void => {
      begunMs.push(performance.now());
      socket.write(nextRequest());
    };
    const closeWhenAnswered = (): void => {
      if (performance.now() >= end && begunMs.length === 0) socket.destroy();
    };
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let found = takeReply(received); found !== null; found = takeReply(received)) {
        const { status, text, headers } = found.reply;
        note(status, text, headers.has('retry-after'), performance.now() - (begunMs.shift() ?? 0));
        received = received.subarray(found.length);
        if (again && performance.now() < end) send();
      }
      closeWhenAnswered();
    });
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        if (begunMs.length > 0) flaws.push(`${begunMs.length} requests had no reply`);
        resolve();
      });
    });
    return { send, closed, closeWhenAnswered, unanswered: () => begunMs.length };
  };
  const client = makeServiceClient(url);
  const watch = async (path: string): Promise<void> => {
    while (performance.now() < end) {
      const begun = performance.now();
      const { status } = await client.get(path);
      healthMs.push(performance.now() - begun);
      if (status !== 200) flaws.push(`${path} was answered ${status}`);
      await wait(50);
    }
  };
  const watches = [watch('/healthz'), watch('/readyz')];
  const isOpen = 'perSecond' in load;
  const lanes: ReturnType<typeof openLane>[] = [];
  while (lanes.length < (isOpen ? 600 : load.inFlight / 2)) {
    lanes.push(openLane(!isOpen));
    // Node accepts one connection in each turn of its event loop, so they come before the load.
    if (lanes.length % 10 === 0) await wait(50);
  }
  const sendAtRate = async (perSecond: number): Promise<void> => {
    const begunMs = performance.now();
    for (let due = 0; performance.now() < end;) {
      const wanted = ((performance.now() - begunMs) * perSecond) / 1_000;
      for (; due < wanted; due += 1) {
        const lane = lanes[due % lanes.length];
        // A client keeps few requests on a connection. Behind others, one would wait before the service could see it.
        if ((lane?.unanswered() ?? 0) < 2) lane?.send();
        else count('not sent');
      }
      await wait(5);
    }
  };
  if (!isOpen) {
    for (const { send } of [...lanes, ...lanes]) send();
  }
  if (isOpen) await sendAtRate(load.perSecond);
  if (isOpen) for (const { closeWhenAnswered } of lanes) closeWhenAnswered();
  await Promise.all([...lanes.map(({ closed }) => closed), ...watches]);
  return { counts, flaws, answeredMs, healthMs };
}
