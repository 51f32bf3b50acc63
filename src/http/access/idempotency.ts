import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import type { RequestProgress } from '../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';
import { toHttpError } from '../replies/error-reply.js';
import { HttpError } from '../replies/error-codes.js';
import { contentOf, type FinishedReply } from '../replies/reply.js';
import type { MadeBefore } from '../route-spec.js';
import { sessionIdOfToken } from '../../security/tokens/access-tokens.js';

/** A retry gets the id and time of the first attempt, so its append is the same. */
export type CommandIdentity = { readonly commandId: string; readonly time: Date };

/** Keyed (`INDEX_KEY`), so that a claim reveals nothing about keys and bodies. */
export interface KeyedDigest {
  of(purpose: string, value: string): string;
}

export interface ReplySealer {
  seal(claim: string, plaintext: string): Promise<string>;
  open(claim: string, sealed: string): Promise<string>;
}

export interface IdempotentRequest {
  /** The caller's actor, or the address of an anonymous client; and the route. */
  readonly scope: readonly [caller: string, route: string];
  readonly key: string;
  /** The parsed body; two spellings of one JSON value are one body. */
  readonly body: unknown;
  /** False if a repetition runs the same command again, because its reply depends on more than the request. */
  readonly keepsReply: boolean;
  /** Returns whether what a kept reply shows was revoked or removed since. */
  readonly isGone: (reply: FinishedReply) => boolean | Promise<boolean>;
  /** An earlier attempt counts as an append that may have written. */
  readonly progress: RequestProgress;
}

/** Runs a request once for each key (src/http/access/README.md#idempotency-key). */
export type RunOnce = (
  request: IdempotentRequest,
  work: (command: CommandIdentity) => Promise<FinishedReply>,
) => Promise<FinishedReply>;

interface IdempotencyDeps {
  readonly store: StateStore;
  readonly digest: KeyedDigest;
  readonly sealer: ReplySealer;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Receives the error if a reply could not be stored. A retry then runs the work again with the same ids. */
  readonly onReplyLost: (error: unknown) => void;
}

/** The life of a claim of an `Idempotency-Key`, in ms. */
export const idempotencyKeyMs = 24 * 60 * 60 * 1000;
/**
 * The time that an attempt has before a repetition in another process runs the same command, because the process of the
 * attempt may be dead. An attempt that lives all the same does no harm (src/http/access/README.md#idempotency-key).
 */
const attemptMs = 1_500;
const pollMs = { first: 50, cap: 250 };

const claimSchema = z.strictObject({
  command_id: z.uuid(),
  time: z.iso.datetime(),
  body: z.string(),
  /** The start of the running attempt; null after one without a stored reply, so that the next may start at once. */
  attempt_at: z.iso.datetime().nullable(),
  reply: z.string().nullable(),
});
type Claim = z.output<typeof claimSchema>;
type OpenClaim = Omit<Claim, 'reply' | 'attempt_at'>;

const replySchema = z.strictObject({
  status: z.int(),
  content: z.string(),
  headers: z.record(z.string(), z.string()),
});

type HeldClaim = { readonly claim: Claim; readonly version: string; readonly isNew: boolean };

export function makeRunOnce({ store, digest, sealer, clock, newId, onReplyLost }: IdempotencyDeps): RunOnce {
  // The attempts of this process, by record. A repetition here waits for their end.
  const underWay = new Map<string, Promise<void>>();
  return async (request, work) => {
    const { scope, key, body } = request;
    const record = `idempotency/${digest.of('idempotency-key', JSON.stringify([...scope, key]))}`;
    const bodyDigest = digest.of('idempotency-body', JSON.stringify(body ?? null));
    const held = await holdInTurn(record, bodyDigest, request.progress);
    if ('reply' in held) {
      if (await request.isGone(held.reply)) {
        throw new HttpError(
          'conflict',
          'what the first request with this Idempotency-Key made has ended or was removed since',
        );
      }
      return held.reply;
    }
    const attempt = run(record, held, request, work);
    const ended = attempt.then(ignore, ignore);
    underWay.set(record, ended);
    try {
      return await attempt;
    } finally {
      if (underWay.get(record) === ended) underWay.delete(record);
    }
  };

  /** Runs the work under a claim. Keeps its reply, or releases the claim. */
  async function run(
    record: string,
    held: HeldClaim,
    { keepsReply }: IdempotentRequest,
    work: (command: CommandIdentity) => Promise<FinishedReply>,
  ): Promise<FinishedReply> {
    const { claim, version } = held;
    let reply: FinishedReply;
    try {
      reply = await work({ commandId: claim.command_id, time: new Date(claim.time) });
    } catch (error) {
      await release(record, held, error).catch(ignore);
      const earlier = held.isNew ? null : await replyMeanwhile(record, claim).catch(ignore);
      if (earlier) return earlier;
      throw error;
    }
    if (!keepsReply) {
      await write(record, version, { ...claim, attempt_at: null }).catch(ignore);
      return reply;
    }
    try {
      const kept = { ...reply, content: (await contentOf(reply)).toString() };
      const sealed = await sealer.seal(record, JSON.stringify(kept));
      await keep(record, held, sealed);
    } catch (error) {
      onReplyLost(error);
    }
    return reply;
  }

  /**
   * Keeps a reply, also when a repetition in another process has taken the claim over: it runs the same command. A reply
   * that was kept before stays.
   */
  async function keep(record: string, { claim, version }: HeldClaim, sealed: string): Promise<void> {
    const { expiresAt } = claimRecord(claim);
    await changeRecord(
      store,
      { key: record, schema: claimSchema },
      (found) =>
        found?.value.command_id !== claim.command_id || found.value.reply !== null
          ? { keep: null }
          : { ...claimRecord({ ...found.value, reply: sealed }), result: null },
      { tries: 5, first: { key: record, value: claim, version, expiresAt }, unknownOutcome: 'retry' },
    );
  }

  /** Returns the reply that the attempt before a repetition has kept during the repetition, or null. */
  async function replyMeanwhile(record: string, claim: Claim): Promise<FinishedReply | null> {
    const stored = await store.get(record);
    if (stored === null) return null;
    const { command_id, reply } = claimSchema.parse(stored.value);
    return command_id === claim.command_id && reply !== null ? openReply(record, reply) : null;
  }

  async function openReply(record: string, sealed: string): Promise<FinishedReply> {
    return replySchema.parse(JSON.parse(await sealer.open(record, sealed)));
  }

  /**
   * Holds the claim, or returns the reply of an earlier attempt. Waits for the end of an attempt that is under way here,
   * and for a while for one in another process.
   * @throws HttpError 409 for another body; StoreUnavailable when the request has been answered
   */
  async function holdInTurn(
    record: string,
    body: string,
    progress: RequestProgress,
  ): Promise<HeldClaim | { readonly reply: FinishedReply }> {
    const startedMs = clock.steadyMs();
    // Until the claim is known to be new, an earlier attempt may have written.
    progress.appending();
    let held = await hold(record, body, { takesOver: false });
    for (let poll = 0; held === 'under-way'; poll += 1) {
      const attempt = underWay.get(record);
      await (attempt ?? clock.sleep(Math.min(pollMs.cap, pollMs.first * 2 ** poll)));
      if (progress.isOver()) throw new StoreUnavailable('the request has been answered');
      const waitedMs = clock.steadyMs() - startedMs;
      held = await hold(record, body, { takesOver: waitedMs >= attemptMs });
    }
    if ('isNew' in held && held.isNew) progress.wroteNothing();
    return held;
  }

  /** @param options.takesOver whether an attempt under way counts as dead */
  async function hold(
    record: string,
    body: string,
    { takesOver }: { readonly takesOver: boolean },
  ): Promise<HeldClaim | 'under-way' | { readonly reply: FinishedReply }> {
    const now = clock.now();
    const held = await changeRecord(
      store,
      { key: record, schema: claimSchema },
      async (found) => {
        const taken =
          found === null
            ? { command_id: newId(), time: now.toISOString(), body }
            : await takeOver(found.value);
        if (taken === 'under-way' || 'reply' in taken) return { keep: taken };
        const claim: Claim = { ...taken, reply: null, attempt_at: now.toISOString() };
        return { ...claimRecord(claim), result: { claim, isNew: found === null } };
      },
      { tries: 1 },
    );
    // Another request was faster.
    if (held === null) return 'under-way';
    return 'kept' in held ? held.kept : { ...held.result, version: held.version };

    async function takeOver(
      claim: Claim,
    ): Promise<OpenClaim | 'under-way' | { readonly reply: FinishedReply }> {
      if (claim.body !== body) {
        throw new HttpError(
          'idempotency_key_reused',
          'the Idempotency-Key was used before with another request',
        );
      }
      const { reply, ...open } = claim;
      if (reply !== null) return { reply: await openReply(record, reply) };
      if (open.attempt_at === null) return open;
      const mayBeDead = takesOver || isOld(open.attempt_at, now);
      return mayBeDead && !underWay.has(record) ? open : 'under-way';
    }
  }

  /**
   * Releases a claim without a reply, so that a caller may correct or retry the request. The claim keeps its ids,
   * because an earlier attempt may have written with them. A refused first attempt wrote nothing, so it deletes its
   * claim: refused requests of anonymous callers must not fill the store.
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

  function write(record: string, expected: string, claim: Claim): Promise<string | null> {
    const { write: value, expiresAt } = claimRecord(claim);
    return store.compareAndSet(record, expected, value, { expiresAt });
  }
}

function claimRecord(claim: Claim) {
  return { write: claim, expiresAt: new Date(Date.parse(claim.time) + idempotencyKeyMs) };
}

/** Whether an attempt is too old to wait for. The clocks of two processes may differ. */
function isOld(attemptAt: string, now: Date): boolean {
  return now.getTime() - Date.parse(attemptAt) >= attemptMs;
}

function ignore(): void {
  // The claim then counts as under way until its time is over.
}

const keptFields = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  secret: z.string().optional(),
  recovery_codes: z.array(z.string()).nullish(),
  tokens: z.object({ access_token: z.string() }).optional(),
});
const keptBody = keptFields.extend({ data: keptFields.optional() });

/** Returns what a kept reply says of the thing that was made, wrapped or bare. */
export function madeBefore({ content }: FinishedReply): MadeBefore {
  const { data, ...bare } = keptBody.parse(JSON.parse(String(content)));
  const { id = '', status = '', secret = '', recovery_codes, tokens } = data ?? bare;
  const sessionId = tokens === undefined ? '' : sessionIdOfToken(tokens.access_token);
  return { id, status, secret, sessionId, recoveryCodes: recovery_codes ?? [] };
}
