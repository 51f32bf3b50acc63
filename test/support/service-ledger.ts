import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../src/event-sourcing/domain-event.js';
import { asObject, type HeaderFields, type ServiceClient, type ServiceReply } from './service-client.js';

/** What the service has acknowledged: where it is read, and what it said. */
export interface Acknowledged {
  readonly path: string;
  readonly headers: HeaderFields;
  /** The reply of the creation; fields that may change since then are left out. */
  readonly body: JsonObject;
}

/** A request with an Idempotency-Key that got no answer: it may have happened. */
export interface Unanswered {
  readonly path: string;
  readonly headers: HeaderFields;
  readonly body: JsonObject;
  /** Where the thing it creates is read, and what it is then. */
  readonly acknowledge: (created: JsonObject) => Acknowledged;
}

/** Everything that a campaign has been told, and what it has not been told. */
export interface Ledger {
  readonly acknowledged: Acknowledged[];
  readonly unanswered: Unanswered[];
  /** Names of nodes whose registration was acknowledged. */
  readonly nodes: Set<string>;
}

export function makeLedger(): Ledger {
  return { acknowledged: [], unanswered: [], nodes: new Set() };
}

/** Asks again while the service is busy. */
export async function untilAnswered(ask: () => Promise<ServiceReply>): Promise<ServiceReply> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const reply = await ask();
    if (reply.status !== 503 || Date.now() > deadline) return reply;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Reads what was acknowledged, eight at a time. @returns what is missing or different, as sentences */
export async function findLost(
  client: ServiceClient,
  acknowledged: readonly Acknowledged[],
): Promise<readonly string[]> {
  const lost: string[] = [];
  const left = [...acknowledged];
  const readOn = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { path, headers, body } = next;
      const reply = await untilAnswered(() => client.get(path, headers));
      if (reply.status !== 200) {
        lost.push(`${path} was acknowledged and is ${reply.status}: ${reply.text}`);
        continue;
      }
      const read = reply.json();
      for (const [field, value] of Object.entries(body)) {
        if (!isDeepStrictEqual(read[field], value)) lost.push(`${path}: ${field} differs from the reply`);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, readOn));
  return lost;
}

/** Which acknowledged nodes the peer list lacks, as sentences. */
export async function findLostNodes(
  client: ServiceClient,
  agentSecret: string,
  nodes: ReadonlySet<string>,
): Promise<readonly string[]> {
  const headers = { 'x-agent-secret': agentSecret };
  const reply = await untilAnswered(() => client.get('/api/v1/internal/peer-list', headers));
  const items = reply.json()['items'];
  const listed = new Set(Array.isArray(items) ? items.map((item) => asObject(item)['name']) : []);
  return [...nodes].filter((name) => !listed.has(name)).map((name) => `the node ${name} is missing`);
}

/**
 * Repeats a request until it is answered for good; while the service may still be at the attempt that was cut off
 * (30 s at most) it answers 409 `conflict`, and 503 while it is busy.
 * @returns what it created, or null when the time for it has not come and `patient` is false
 * @throws Error for any other answer, and when a further repetition is not answered with the very same reply
 */
export async function settle(
  client: ServiceClient,
  request: Unanswered,
  patient: boolean,
): Promise<Acknowledged | null> {
  const { path, body, headers } = request;
  for (;;) {
    const reply = await client.post(path, body, headers);
    if (reply.status === 201) {
      const again = await untilAnswered(() => client.post(path, body, headers));
      if (again.status !== 201 || again.text !== reply.text) {
        throw new Error(`${path}: two repetitions were answered ${reply.text} and ${again.text}`);
      }
      return request.acknowledge(reply.json());
    }
    const mayBeTriedAgain =
      reply.status === 503 || (reply.status === 409 && reply.json()['code'] === 'conflict');
    if (!mayBeTriedAgain) {
      throw new Error(`${path}: a repetition was answered ${reply.status}: ${reply.text}`);
    }
    if (!patient) return null;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
