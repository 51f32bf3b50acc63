import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { toHttpError } from './error-reply.js';
import { HttpError } from './http-error.js';
import type { FinishedReply } from './reply.js';

/** Id and time of the command that a request asks for. A retry gets those of the first attempt, so its append is the same. */
export interface CommandIdentity {
  readonly commandId: string;
  readonly time: Date;
  /** See `CommandContext.isUnique`. */
  readonly isUnique?: boolean;
}

/** Keyed digests (`INDEX_KEY`), so that a claim tells nothing of keys and bodies. */
export interface KeyedDigest {
  of(purpose: string, value: string): string;
}

/** Seals replies for the claim that keeps them. */
export interface ReplySealer {
  seal(claim: string, plaintext: string): Promise<string>;
  open(claim: string, sealed: string): Promise<string>;
}

export interface IdempotentRequest {
  /** The caller's actor, or the client's address for anonymous ones; and the route. */
  readonly scope: readonly [caller: string, route: string];
  readonly key: string;
  /** The parsed body; two spellings of one JSON value are one body. */
  readonly body: unknown;
  /** False where a repetition does the work anew, as the same command: its reply depends on more than the request. */
  readonly keepsReply: boolean;
}

/** Runs a request once per key: DESIGN section 3, "Idempotency-Key". */
export type RunOnce = (
  request: IdempotentRequest,
  work: (command: CommandIdentity) => Promise<FinishedReply>,
) => Promise<FinishedReply>;

export interface IdempotencyDeps {
  readonly store: StateStore;
  readonly digest: KeyedDigest;
  readonly sealer: ReplySealer;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Told when a reply could not be kept; a retry then does the work again with the same ids. */
  readonly onReplyLost: (error: unknown) => void;
}

const claimMs = 24 * 60 * 60 * 1000;
const inFlightMs = 30 * 1000;

/** Storage format of a claim. */
const claimSchema = z.strictObject({
  command_id: z.uuid(),
  time: z.iso.datetime(),
  body: z.string(),
  /** When the running attempt began; null when it ended without a reply to keep, and the next may begin at once. */
  attempt_at: z.iso.datetime().nullable(),
  reply: z.string().nullable(),
});
type Claim = z.output<typeof claimSchema>;

const replySchema = z.strictObject({
  status: z.int(),
  content: z.string(),
  headers: z.record(z.string(), z.string()),
});

interface HeldClaim {
  readonly claim: Claim;
  readonly version: string;
  /** Nobody has tried under it before. */
  readonly isNew: boolean;
}

export function makeRunOnce({ store, digest, sealer, clock, newId, onReplyLost }: IdempotencyDeps): RunOnce {
  return async ({ scope, key, body, keepsReply }, work) => {
    const record = `idempotency/${digest.of('idempotency-key', JSON.stringify([...scope, key]))}`;
    const bodyDigest = digest.of('idempotency-body', JSON.stringify(body ?? null));
    const held = await hold(record, bodyDigest);
    if ('reply' in held) return held.reply;
    const { claim, version } = held;
    let reply: FinishedReply;
    try {
      reply = await work({ commandId: claim.command_id, time: new Date(claim.time) });
    } catch (error) {
      await release(record, held, error).catch(ignore);
      throw error;
    }
    if (!keepsReply) {
      await write(record, version, { ...claim, attempt_at: null }).catch(ignore);
      return reply;
    }
    try {
      const kept = { ...reply, content: reply.content.toString() };
      const sealed = await sealer.seal(record, JSON.stringify(kept));
      await write(record, version, { ...claim, reply: sealed });
    } catch (error) {
      onReplyLost(error);
    }
    return reply;
  };

  /** Takes the claim, or finds the reply that an earlier attempt left. @throws HttpError 409 */
  async function hold(record: string, body: string): Promise<HeldClaim | { readonly reply: FinishedReply }> {
    const now = clock.now();
    const found = await store.get(record);
    if (found === null) {
      const time = now.toISOString();
      const claim: Claim = { command_id: newId(), time, body, attempt_at: time, reply: null };
      const version = await write(record, null, claim);
      if (version === null) throw inFlight();
      return { claim, version, isNew: true };
    }
    const claim = claimSchema.parse(found.value);
    if (claim.body !== body) {
      throw new HttpError(
        'idempotency_key_reused',
        'the Idempotency-Key was used before with another request',
      );
    }
    if (claim.reply !== null) {
      return { reply: replySchema.parse(JSON.parse(await sealer.open(record, claim.reply))) };
    }
    if (claim.attempt_at !== null && now.getTime() - Date.parse(claim.attempt_at) < inFlightMs) {
      throw inFlight();
    }
    const taken: Claim = { ...claim, attempt_at: now.toISOString() };
    const version = await write(record, found.version, taken);
    if (version === null) throw inFlight();
    return { claim: taken, version, isNew: false };
  }

  /**
   * Gives up a claim without a reply to keep: a refusal may be cured, and a failure is to be retried. Its ids stay, for it
   * may have been written; those of a first attempt that was refused were for nothing, and whoever is refused again and
   * again, without an account even, must not fill the store with them.
   */
  function release(
    record: string,
    { claim, version, isNew }: HeldClaim,
    error: unknown,
  ): Promise<string | null> {
    const status = toHttpError(error)?.status ?? 500;
    return isNew && status < 500
      ? store.compareAndSet(record, version, null)
      : write(record, version, { ...claim, attempt_at: null });
  }

  function write(record: string, expected: string | null, claim: Claim): Promise<string | null> {
    return store.compareAndSet(record, expected, claim, {
      expiresAt: new Date(Date.parse(claim.time) + claimMs),
    });
  }
}

function inFlight(): HttpError {
  return new HttpError('conflict', 'a request with this Idempotency-Key is being worked on', {
    retryAfter: 1,
  });
}

function ignore(): void {
  // The claim then counts as in flight for its 30 s.
}
