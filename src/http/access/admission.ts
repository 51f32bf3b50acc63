import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { ipBuckets } from '../../security/rates/client-ip.js';
import { HttpError } from '../replies/error-codes.js';

/** Bounds the requests that run or wait in the process: src/http/access/README.md#admission. */
export type Admission = ReturnType<typeof makeAdmission>;

export interface RequestKind {
  /** Whether it may take the tenth of the permits that is kept. */
  readonly isReserved: boolean;
  readonly isWrite: boolean;
}

interface RequestPermit {
  readonly admit: Admit;
  /** Gives the permit back, once. */
  end(): void;
}

/** Whom a request counts for, and the session or key that it comes from. */
interface RequestOwner {
  /** The user, the payer of an API key's project, or the client. */
  readonly key: string;
  readonly credential: string | null;
}

/**
 * Admits a request, or lets it wait until its owner has room. It begins nothing before that.
 * @returns undefined where it does not wait
 * @throws HttpError 503 when the process has no room; the promise rejects with it when the request is shed
 */
export type Admit = (owner: RequestOwner) => Promise<void> | undefined;

/** Admits what counts nowhere. */
export const noAdmission: Admit = () => undefined;

/** Returns the owner of requests without a user or a project. */
export function ownerOfClient(client: string, credential: string | null = null): RequestOwner {
  return { key: `client:${ipBuckets(client)[0]?.key ?? client}`, credential };
}

/** `MAX_REQUESTS` by default: a process answers as many within 10 s, also on a slow machine. */
export const requestsMaxDefault = 200;

/**
 * The time in which a turn of the event loop begins requests. Reads of an embedded store end in the turn in which they begin, so
 * without it a turn would serve every request that has arrived, and the health of the process after all of them.
 */
const turnMs = 2;

/** Returns how many requests one owner may run. */
export function requestsAtOnce(requestsMax: number): number {
  return Math.floor(requestsMax / 10);
}

/** The reply to a request that the process has no room for. */
export const shed = new HttpError('overloaded', 'the service is busy; nothing was done, so try again');

interface Owner {
  running: number;
  /** In order of arrival. */
  readonly waiting: Set<Request>;
  /** What runs, by credential, and of all writes. */
  readonly parts: Map<string, number>;
}

interface Request {
  readonly isReserved: boolean;
  readonly parts: readonly string[];
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

const writes = 'writes';

/**
 * A request that finds no room sheds the oldest waiter of the owner with the most requests, so a flood is shed before its
 * victims. No credential, and no writes, take more than half of what an owner may run: a stolen session leaves room for the
 * request that ends it, and writes that wait for a store leave room for reads. Owners begin in turns.
 */
export function makeAdmission(deps: { readonly requestsMax: number; readonly nowMs?: () => number }) {
  const { requestsMax, nowMs = () => performance.now() } = deps;
  const ownerMax = requestsAtOnce(requestsMax);
  const partMax = Math.ceil(ownerMax / 2);
  const unreservedMax = requestsMax - ownerMax;
  /** Only owners with requests, so old ones take no memory. */
  const owners = new Map<string, Owner>();
  let [running, waiting, unreserved] = [0, 0, 0];
  let turnBeganMs: number | null = null;
  let isBeginning = false;
  /** Whether a request that waits may have room. Its owner's requests may end at any time, also between two turns. */
  let mayBegin = false;
  return {
    /** Makes the permit of a request, which counts nowhere until it is admitted. */
    of: (response: ServerResponse, kind: RequestKind): RequestPermit => {
      let end = (): void => undefined;
      return {
        admit: ({ key, credential }) => {
          const parts = [...(kind.isWrite ? [writes] : []), ...(credential === null ? [] : [credential])];
          const owner = owners.get(key) ?? { running: 0, waiting: new Set(), parts: new Map() };
          if (!makeRoom(kind, owner)) throw shed;
          // After the only waiter of this owner was shed, the owner is not among them any more.
          owners.set(key, owner);
          if (!kind.isReserved) unreserved += 1;
          const leave = (): void => {
            if (!kind.isReserved) unreserved -= 1;
            forget(key, owner);
          };
          end = () => {
            end = () => undefined;
            count(owner, parts, -1);
            leave();
            void beginWaiting();
          };
          if (!isBeginning && hasRoom(owner, parts) && !isTurnOver()) {
            count(owner, parts, 1);
            return undefined;
          }
          const ended = end;
          end = () => undefined;
          const waited = wait(owner, { isReserved: kind.isReserved, parts }, response, leave);
          void beginWaiting();
          return waited.then(() => {
            end = ended;
          });
        },
        end: () => end(),
      };
    },
    /** The requests that run and that wait, for metrics. */
    counts: () => ({ running, waiting }),
  };

  function wait(
    owner: Owner,
    request: Pick<Request, 'isReserved' | 'parts'>,
    response: ServerResponse,
    leave: () => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        owner.waiting.delete(waiter);
        waiting -= 1;
        response.off('close', onClose);
      };
      const refuse = (error: Error): void => {
        end();
        leave();
        reject(error);
      };
      const onClose = (): void => {
        // The log shows it as a refusal. No client reads it.
        refuse(new HttpError('rate_limited', 'the client left before its turn'));
      };
      const begin = (): void => {
        end();
        count(owner, request.parts, 1);
        resolve();
      };
      const waiter: Request = { ...request, begin, refuse };
      owner.waiting.add(waiter);
      waiting += 1;
      response.once('close', onClose);
    });
  }

  /** Sheds a waiter where that is needed. Returns false where none waits whose permit the request may take. */
  function makeRoom({ isReserved }: RequestKind, own: Owner): boolean {
    const isFull = running + waiting >= requestsMax;
    const needsUnreserved = !isReserved && unreserved >= unreservedMax;
    if (!isFull && !needsUnreserved) return true;
    let [most, oldest]: [number, Request | null] = [0, null];
    for (const owner of owners.values()) {
      const size = owner.running + owner.waiting.size + (owner === own ? 1 : 0);
      if (size <= most) continue;
      for (const request of owner.waiting) {
        if (needsUnreserved && request.isReserved) continue;
        [most, oldest] = [size, request];
        break;
      }
    }
    oldest?.refuse(shed);
    return oldest !== null;
  }

  function isTurnOver(): boolean {
    if (turnBeganMs !== null) return nowMs() - turnBeganMs >= turnMs;
    turnBeganMs = nowMs();
    void setImmediate().then(() => {
      turnBeganMs = null;
    });
    return false;
  }

  /** Begins requests that wait, until those that are left wait for others of their owner. */
  async function beginWaiting(): Promise<void> {
    mayBegin = waiting > 0;
    if (isBeginning) return;
    isBeginning = true;
    while (mayBegin) {
      // The sockets are read first.
      await setImmediate();
      const beganMs = nowMs();
      do {
        mayBegin = beginNext();
        // The work of the request until its first wait counts for this turn.
        await new Promise<void>((resolve) => process.nextTick(resolve));
      } while (mayBegin && nowMs() - beganMs < turnMs);
    }
    isBeginning = false;
  }

  function beginNext(): boolean {
    for (const [key, owner] of owners) {
      for (const request of owner.waiting) {
        if (!hasRoom(owner, request.parts)) continue;
        // The other owners are before it the next time.
        owners.delete(key);
        owners.set(key, owner);
        request.begin();
        return true;
      }
    }
    return false;
  }

  function hasRoom(owner: Owner, parts: readonly string[]): boolean {
    return owner.running < ownerMax && parts.every((part) => (owner.parts.get(part) ?? 0) < partMax);
  }

  function count(owner: Owner, parts: readonly string[], change: 1 | -1): void {
    running += change;
    owner.running += change;
    for (const part of parts) {
      const after = (owner.parts.get(part) ?? 0) + change;
      if (after > 0) owner.parts.set(part, after);
      else owner.parts.delete(part);
    }
  }

  function forget(key: string, owner: Owner): void {
    if (owner.running + owner.waiting.size === 0) owners.delete(key);
  }
}
