import Bottleneck from 'bottleneck';
import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
  type OutgoingRequest,
} from '../../../../outgoing/outgoing-http.js';
import { PlatformError } from '../payment-maker.js';
import { type Fields, readJsonObject, textAt } from './parsing.js';

/**
 * Returns the object of a successful reply. A refusal of our credentials is `unavailable`: an operator must cure it.
 * @param codePaths where an error reply has its code, the best first
 * @throws PlatformError refused, unavailable, outcome_unknown
 */
export async function fieldsOfReply(
  { status, body }: OutgoingReply,
  codePaths: readonly string[],
): Promise<Fields> {
  const fields = await readJsonObject(body);
  if (status >= 200 && status < 300) return fields ?? unreadableReply();
  throw refusalOf(
    status,
    codePaths.map((path) => textAt(fields, path)),
  );
}

/** Returns the failure that an error reply means. @param codes what it names as its code, the best first */
export function refusalOf(status: number, codes: readonly (string | null)[]): PlatformError {
  const code = codes.map(platformCode).find((found) => found !== null);
  const isOurs = status === 401 || status === 403;
  return new PlatformError(isOurs ? 'unavailable' : 'refused', code ?? `status_${status}`);
}

/** A successful reply without what it must have: the platform may have done what it was asked. */
export function unreadableReply(): never {
  throw new PlatformError('outcome_unknown', 'unreadable_reply');
}

/** A URL that the platform gives a buyer. @throws PlatformError outcome_unknown */
export function httpsUrlOf(text: string | null): string {
  return text !== null && URL.canParse(text) && text.startsWith('https://') ? text : unreadableReply();
}

/** A code is a word. Other text of a platform may contain personal data. */
export function platformCode(text: string | null): string | null {
  return text !== null && /^[A-Za-z0-9_.-]{1,64}$/.test(text) ? text : null;
}

/**
 * Sends a request to a payment platform. A try has 5 s. The same request, with its idempotency key, is sent once more
 * after an error that may pass: no connection, no reply, 409, 429 and 5xx. Returns every other reply.
 * @throws PlatformError unavailable, outcome_unknown
 */
export type CallPlatform = ReturnType<typeof makeCallPlatform>;

/** What a maker works with. A maker without calls to its platform needs `now` alone. */
export interface MakerSurroundings {
  readonly call: CallPlatform;
  readonly now: () => Date;
  /** The base of the platform's addresses in place of its public one, without a slash at its end; for tests. */
  readonly baseUrl?: string;
}

/** Calls of one platform at once, and calls that may wait. */
const atOnceMax = 8;
const waitingMax = 16;
/** A request of a client has 15 s in all: two tries and their pause leave 4 s (src/http/access/README.md#limit-of-a-request). */
const tries = 2;
const pauseMs = 500;

/** Failures before the request was sent. */
const unsent: ReadonlySet<OutgoingError['failure']> = new Set([
  'address_refused',
  'host_not_found',
  'host_not_resolved',
  'connection_refused',
  'certificate_name_wrong',
  'certificate_expired',
  'certificate_untrusted',
  'certificate_invalid',
  'tls_failed',
]);

/** Makes the calls to one platform. They share a bounded queue; beyond it, a call is `unavailable` at once. */
export function makeCallPlatform(deps: {
  readonly http: OutgoingHttp;
  readonly sleep: (ms: number) => Promise<void>;
}) {
  const { http, sleep } = deps;
  const limiter = new Bottleneck({
    maxConcurrent: atOnceMax,
    highWater: waitingMax,
    strategy: Bottleneck.strategy.OVERFLOW,
  });
  return async (request: OutgoingRequest) => {
    try {
      return await limiter.schedule(() => send(request, tries));
    } catch (error) {
      if (error instanceof Bottleneck.BottleneckError) throw new PlatformError('unavailable', 'queue_full');
      throw error;
    }
  };

  async function send(request: OutgoingRequest, left: number): Promise<OutgoingReply> {
    const outcome = await attempt(request);
    if (!(outcome instanceof PlatformError)) return outcome;
    if (left <= 1) throw outcome;
    await sleep(pauseMs);
    try {
      return await send(request, left - 1);
    } catch (error) {
      // A later try that did nothing does not make an unknown outcome known.
      throw outcome.failure === 'outcome_unknown' ? outcome : error;
    }
  }

  async function attempt(request: OutgoingRequest): Promise<OutgoingReply | PlatformError> {
    try {
      const reply = await http(request);
      const isPassing = reply.status === 409 || reply.status === 429 || reply.status >= 500;
      if (!isPassing) return reply;
      return new PlatformError(
        reply.status >= 500 ? 'outcome_unknown' : 'unavailable',
        `status_${reply.status}`,
      );
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      return new PlatformError(unsent.has(error.failure) ? 'unavailable' : 'outcome_unknown', error.failure);
    }
  }
}
