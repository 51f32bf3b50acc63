import { z } from 'zod';
import type { CommandContext } from '../event-sourcing/command-handler.js';
import type { AccessKind, Grants, Policy } from './access.js';
import type { ErrorCode } from './error-codes.js';
import type { PathParams } from './gate.js';
import type { HttpError } from './http-error.js';
import type { RouteLimit } from './limits.js';
import type { Reply, ReplySpecs } from './reply.js';

/** For routes whose path has no parameters, whose query is ignored, or that take no body. */
export const noParams = z.object({});
export const noQuery = z.object({});
export const noBody = z.undefined();

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a handler gets: parsed, checked and allowed. */
export interface RouteRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The client's address. */
  readonly client: string;
  /** `User-Agent`, printable and cut to 256 characters; null where the client sends none. */
  readonly userAgent: string | null;
  /** From `If-Match`: the revision that the caller saw. */
  readonly expectedRevision: bigint | undefined;
  /** Id, time and actor for the command that the request asks for. */
  readonly command: CommandContext;
}

/** A route, as data. All that is said of it here is checked at start, enforced on each request, and published. */
export interface RouteSpec<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
> {
  readonly method: Method;
  /** With parameters as `:name`. */
  readonly path: string;
  /** `operationId` of the published document. */
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Policy<Kind>;
  readonly request: {
    readonly params: z.ZodType<Params>;
    readonly query: z.ZodType<Query>;
    readonly body: z.ZodType<Body>;
  };
  readonly replies: Replies;
  /** Refusals of the route's own; those of the shell are known. */
  readonly errors: readonly ErrorCode[];
  /** What the service lacks to serve the route, null when nothing: asked of well-formed requests, before limits. */
  readonly lacks?: () => HttpError | null;
  /** One or several; of several, none is charged when one refuses. */
  readonly limit?: RouteLimit | readonly [RouteLimit, ...RouteLimit[]];
  /** Honours `Idempotency-Key`. `anew`: a repetition is worked on again, as the same command, and its reply is a new one. */
  readonly idempotent?: true | 'anew';
  /** Honours `If-Match`. */
  readonly ifMatch?: boolean;
  /** Success replies carry an `ETag`, and a GET answers 304 to `If-None-Match`. */
  readonly entityTag?: boolean;
  readonly cacheControl?: 'no-store' | 'no-cache' | `public, max-age=${number}`;
  /** Served before the service is ready, too. */
  readonly always?: boolean;
  handler(
    request: RouteRequest<Params, Query, Body> & Grants[Kind],
  ): Promise<Reply<NoInfer<Replies>>> | Reply<NoInfer<Replies>>;
}
