import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import {
  asObject,
  type HeaderFields,
  type ServiceClient,
  type ServiceReply,
} from '../clients/service-client.js';
import { eventually } from '../eventually.js';

/** A resource that the service has acknowledged: its path and the reply. */
export interface Acknowledged {
  readonly path: string;
  readonly headers: HeaderFields;
  /** The reply to the creation, without fields that may have changed since. */
  readonly body: JsonObject;
}

/** A request with an Idempotency-Key that got no answer: it may have happened. */
export interface Unanswered {
  readonly path: string;
  readonly headers: HeaderFields;
  readonly body: JsonObject;
  /** Returns the path and the expected body of the created resource. */
  readonly acknowledge: (created: JsonObject) => Acknowledged;
}

/** All acknowledged and all unanswered requests of a campaign. */
export interface Ledger {
  readonly acknowledged: Acknowledged[];
  readonly unanswered: Unanswered[];
  /** The names of nodes whose registration was acknowledged. */
  readonly nodes: Set<string>;
}

export function makeLedger(): Ledger {
  return { acknowledged: [], unanswered: [], nodes: new Set() };
}

/** Repeats a request while the service is busy. */
export function untilAnswered(ask: () => Promise<ServiceReply>): Promise<ServiceReply> {
  const answered = async () => {
    const reply = await ask();
    return reply.status !== 503 && reply;
  };
  return eventually('the service answers', answered, { pollMs: 200, at: untilAnswered });
}

/** Reads the acknowledged resources, eight at a time. @returns the missing or different ones, as sentences */
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

/** Returns the acknowledged nodes that the peer list lacks, as sentences. */
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
 * Repeats a request until its answer is final. The service answers 409 `conflict` while it may still run the attempt
 * that was cut off (30 s at most), and 503 while it is busy.
 * @returns the created resource; null when the answer is not final yet and `patient` is false
 * @throws Error for any other answer, and when a further repetition has another reply
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
    const mayBeRetried =
      reply.status === 503 || (reply.status === 409 && reply.json()['code'] === 'conflict');
    if (!mayBeRetried) {
      throw new Error(`${path}: a repetition was answered ${reply.status}: ${reply.text}`);
    }
    if (!patient) return null;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
