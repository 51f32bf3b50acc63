import type { IncomingMessage } from 'node:http';
import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import { checkEach, invalid } from '../../validation/field-problems.js';
import { type AccessKind, type Grants, chargesWork } from '../access/access.js';
import { internalError, toHttpError } from '../replies/error-reply.js';
import {
  type FinishedReply,
  type ReplySpecs,
  contentOf,
  makeFinishReply,
  matchesNone,
  revisionsWanted,
  setHeaders,
} from '../replies/reply.js';
import { userAgentOf } from '../access/authenticate.js';
import { type PathParams, requireGuarded } from '../access/gate.js';
import { HttpError } from '../replies/error-codes.js';
import {
  idempotencyKeyMs,
  madeBefore,
  type CommandIdentity,
  type IdempotentRequest,
} from '../access/idempotency.js';
import { nearerToRefusal } from '../../security/rates/rate-limit.js';
import { acceptedEncoding } from '../body/raw-body.js';
import { checkContentType, readBody, type ReceivedBody } from '../body/json-body.js';
import { type NoteAllowance, reserveLimits, type RequestWork } from '../access/limits.js';
import { makeOmitNullTexts, makeQueryParser, validate, validatePath } from '../body/validate.js';
import type { RouteSpec } from '../route-spec.js';
import type { GuardedAction } from '../../areas/accounts/domain/guard.js';
import type { HttpState, Shell } from './shell.js';
import { type Admit, noAdmission, ownerOfClient } from '../access/admission.js';
import { requireConnection } from './pipeline.js';

/** Visible ASCII. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** Serves a route (src/http/README.md#order-of-checks). The router settles 404 and 405, the gate 401 to entitlement. */
export function makeExchange<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
>(
  spec: RouteSpec<Kind, Params, Query, Body, Replies>,
  shell: Shell,
): (ctx: RouterContext<HttpState>) => Promise<void> {
  const { request, access } = spec;
  const takesBody = isBody(request.body);
  const badId = 'badId' in access ? access.badId : 'not_found';
  // OWASP ASVS 5.0, 14.3.2: what only some callers may read is kept by no cache.
  const isForAll = access.kind === 'public' && spec.method === 'GET';
  const finishReply = makeFinishReply(
    spec.replies,
    spec.cacheControl ?? (isForAll ? 'no-cache' : 'no-store'),
  );
  const readQuery = makeQueryParser(request.query);
  const parseBody = makeBodyParser(request.body);
  const limits = [spec.limit ?? []].flat();
  const wanted = (path: PathParams) => spec.wanted?.(path as Params) ?? null;
  // An absent body and an empty path are parsed once, not for every request.
  const noBody = takesBody ? null : request.body.safeParse(undefined);
  const noParams = spec.path.includes(':') ? null : request.params.parse({});
  const kind = { isReserved: access.kind === 'agent', isWrite: spec.method !== 'GET' };
  const isOfClient = access.kind === 'public' || access.kind === 'agent';
  if (spec.unbounded === true) return (ctx) => exchange(ctx, noAdmission, noWork);
  return async (ctx) => {
    const permit = shell.admission.of(ctx.res, kind);
    const work = chargesWork(access) ? shell.work.begin() : null;
    try {
      if (work === null) await exchange(ctx, permit.admit, noWork);
      else await work.run(() => exchange(ctx, permit.admit, work));
    } finally {
      permit.end();
      work?.end();
    }
  };

  async function exchange(ctx: RouterContext<HttpState>, admit: Admit, charged: Pick<RequestWork, 'charge'>) {
    ctx.state.route = spec.path;
    const noteAllowance: NoteAllowance = (allowance) => {
      if (allowance !== null) ctx.state.allowance = nearerToRefusal(ctx.state.allowance, allowance);
    };
    if (spec.always !== true) refuseUntilReady(shell);
    // 1. Size: 413. The body arrives before anything begins, also where the route takes none.
    const received = await readBody(ctx.req);
    requireConnection(ctx.req);
    // 2. Admission 503: of a client here, of a user or a project once the signature of the token is checked.
    const admitted = isOfClient ? admit(ownerOfClient(ctx.state.client)) : undefined;
    if (admitted !== undefined) await admitted;
    // 3. Authentication 401, path ids, then every 403.
    const { grant, params } = await shell.gate(
      access,
      {
        headers: ctx.req.headers,
        client: ctx.state.client,
        admit,
        noteAllowance,
        chargeWork: charged.charge,
        wanted,
      },
      () => noParams ?? validatePath(request.params, ctx.params, badId),
    );
    ctx.state.actor = grant.caller.actor;
    // 4. Content type 415, then body, query and headers 400.
    const content = noBody?.success === true ? null : requestContentOf(ctx, received);
    const { query, body, key, expectedRevision } = checkEach({
      query: () => readQuery(ctx.querystring),
      body: () => (noBody?.success === true ? noBody.data : parseBody(content)),
      key: () => (spec.idempotent === undefined ? undefined : idempotencyKey(ctx.req)),
      expectedRevision: () =>
        spec.ifMatch === true ? revisionsWanted(ctx.req.headers['if-match']) : undefined,
    });
    refuseUnguarded(grant.caller, () => spec.guards?.({ params, body, ...grant }) ?? null, shell.clock);
    refuseForLack(spec);
    // 5. The limit per client 429, which only well-formed requests reach.
    const { requestId, traceId, client, tracked } = ctx.state;
    const device = spec.deviceOf === undefined ? null : await spec.deviceOf({ params, body, ...grant });
    const reserved = { client, device, params };
    const settle = limits.length === 0 ? undefined : reserveLimits(shell.limiter, limits, reserved);
    // 6. The work itself: 409, 412, 503.
    const { actor } = grant.caller;
    const work = async ({ commandId, time }: CommandIdentity): Promise<FinishedReply> => {
      // One literal: a second spread, or a spread before other properties, costs the engine some 10 µs.
      const command = {
        causationId: requestId,
        correlationId: traceId,
        actor,
        request: tracked,
        commandId,
        time,
        isUnique: key === undefined,
      };
      const userAgent = userAgentOf(ctx.req);
      const acceptLanguage = ctx.req.headers['accept-language'];
      const given = {
        params,
        query,
        body,
        client,
        trying: { ip: client, known: device },
        userAgent,
        acceptLanguage,
        expectedRevision,
        command,
        ...grant,
      };
      return finishReply(await spec.handler(given));
    };
    const answer: Answer = () => {
      const time = shell.clock.now();
      spec.check?.({
        body,
        time,
        earliest: key === undefined ? time : new Date(time.getTime() - idempotencyKeyMs),
      });
      // A read runs no command, so its context needs no new id.
      if (key === undefined)
        return work({ commandId: spec.method === 'GET' ? requestId : shell.newId(), time });
      const scope: IdempotentRequest['scope'] = [
        actor === 'anonymous' ? client : actor,
        `${spec.method} ${ctx.path}`,
      ];
      const keepsReply = spec.idempotent === true;
      const isGone = (kept: FinishedReply): boolean | Promise<boolean> =>
        spec.isGone?.(madeBefore(kept), { params, time, ...grant }) ?? false;
      return shell.runOnce(
        { scope, key, body: repeatable({ query, body }), keepsReply, isGone, progress: tracked },
        work,
      );
    };
    const reply = await (settle === undefined
      ? answer()
      : settled(answer, (status) => noteAllowance(settle(status))));
    if (tracked.isOver()) return;
    if (isKnownToClient(ctx.req, reply)) sendNotModified(ctx, reply);
    else await send(ctx, reply);
  }
}

/** Agents and sign-ins are charged for no work. */
const noWork = { charge: () => undefined };

/** @throws HttpError 400 */
function makeBodyParser<Body>(schema: z.ZodType<Body>): (content: unknown) => Body {
  const omitNullTexts = makeOmitNullTexts(schema);
  return (content) => {
    omitNullTexts?.(content);
    return validate(schema, content);
  };
}

/** Returns what a repetition must have in common with the first attempt: the query too, where the route has one. */
function repeatable({ query, body }: { readonly query: unknown; readonly body: unknown }): unknown {
  const hasQuery = typeof query === 'object' && query !== null && Object.keys(query).length > 0;
  return hasQuery ? { query, body } : body;
}

function isBody(schema: z.ZodType): boolean {
  return !(schema instanceof z.ZodUndefined);
}

function refuseUntilReady({ readiness }: Shell): void {
  if (!readiness.serving()) throw new HttpError('store_unavailable', 'the service is not ready yet');
}

/** Refuses a session that may not do what this body asks for: 403. */
function refuseUnguarded(
  caller: Grants[AccessKind]['caller'],
  actionOf: () => GuardedAction | null,
  clock: Shell['clock'],
): void {
  if (caller.kind !== 'session') return;
  const action = actionOf();
  if (action !== null) requireGuarded(action, caller, clock.now());
}

function refuseForLack({ lacks }: { readonly lacks?: () => HttpError | null }): void {
  const lack = lacks?.() ?? null;
  if (lack !== null) throw lack;
}

type Answer = () => Promise<FinishedReply>;

/** Passes the status of the work, or of its error, to `settle`. */
async function settled(answer: Answer, settle: (status: number) => void): Promise<FinishedReply> {
  try {
    const reply = await answer();
    settle(reply.status);
    return reply;
  } catch (error) {
    settle((toHttpError(error) ?? internalError).status);
    throw error;
  }
}

/** An empty body counts as an object without fields, so a route without required fields accepts it. */
function requestContentOf(ctx: RouterContext<HttpState>, received: ReceivedBody): unknown {
  checkContentType(ctx, received);
  if (received.kind === 'flawed') throw received.error;
  return received.kind === 'json' ? received.value : {};
}

/** @throws InvalidInput for a key that is empty, longer than 255 characters or not visible ASCII */
function idempotencyKey(request: IncomingMessage): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header === 'string' && idempotencyKeyPattern.test(header)) return header;
  return invalid('header.Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
}

/** Returns whether the client of a read already has this version (RFC 9110, 13.1.2). */
function isKnownToClient({ method, headers }: IncomingMessage, reply: FinishedReply): boolean {
  const tag = reply.headers['etag'];
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && tag !== undefined && matchesNone(headers['if-none-match'], tag);
}

function sendNotModified(ctx: RouterContext<HttpState>, reply: FinishedReply): void {
  sendHeaders(ctx, reply);
  // Koa removes the headers that describe the body.
  ctx.status = 304;
}

/** Adds to `Vary`, which may name the origin already. */
function sendHeaders(ctx: RouterContext<HttpState>, { headers, encoded }: FinishedReply): void {
  setHeaders(ctx.res, headers);
  if (headers['content-language'] !== undefined) ctx.vary('Accept-Language');
  if (encoded !== undefined) ctx.vary('Accept-Encoding');
}

/** Some replies make their content only when it is sent. An error of that comes before any header of the reply. */
async function send(ctx: RouterContext<HttpState>, reply: FinishedReply): Promise<void> {
  const { status, encoded } = reply;
  const { headers: asked } = ctx.req;
  const coding = encoded === undefined ? null : acceptedEncoding(asked['accept-encoding']);
  const content = encoded === undefined || coding === null ? await contentOf(reply) : encoded()[coding];
  if (ctx.state.tracked.isOver()) return;
  sendHeaders(ctx, reply);
  if (coding !== null) ctx.set('Content-Encoding', coding);
  ctx.status = status;
  ctx.body = content;
}
