import { namedObject } from '../validation/fields.js';
import type { NamedRevisions } from '../event-sourcing/deciding/command-handler.js';
import type { JsonObject } from '../event-sourcing/ports/domain-event.js';
import type { Wanted } from '../event-sourcing/views/views.js';
import { z } from 'zod';
import type { CommandContext } from '../event-sourcing/ports/command-context.js';
import type { AccessKind, Grants, Policy } from './access/access.js';
import type { ErrorCode, HttpError } from './replies/error-codes.js';
import type { PathParams } from './access/gate.js';
import type { RouteLimit } from './access/limits.js';
import type { Reply, ReplySpecs } from './replies/reply.js';
import type { GuardedAction } from '../areas/accounts/domain/guard.js';
import type { KnownDevice, TryingClient } from '../security/guessing/guard.js';

/** Schemas of routes without parameters in the path, without parameters in the query, or without a body. */
export const noParams = z.object({});
export const noQuery = z.object({});
export const noBody = z.undefined();
/** The body of a call that takes one for later fields, and has none yet. */
export const noFields = namedObject('NoFields', {});
/** The query of a page for people: mail and chat programs add parameters to links. */
export const ignoredQuery = z.looseObject({});

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The request for a handler: parsed, validated and authorised. */
interface RouteRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly client: string;
  /** The client, with the device of `RouteSpec.deviceOf`, for commands that bound guesses. */
  readonly trying: TryingClient;
  /** `User-Agent`, printable and cut to 256 characters; null if the client sends none. */
  readonly userAgent: string | null;
  /** The field as the client sends it. */
  readonly acceptLanguage: string | undefined;
  /** The revisions from `If-Match`, one of which the caller has read. */
  readonly expectedRevision: NamedRevisions | undefined;
  /** Id, time and actor of the requested command. */
  readonly command: CommandContext;
}

/** A body for a check that reads no store. */
interface CheckedBody<Body> {
  readonly body: Body;
  readonly time: Date;
  /**
   * The earliest time that the command may have: with an `Idempotency-Key`, a repetition has the time of the first attempt.
   * What was valid at that time is valid.
   */
  readonly earliest: Date;
}

/** What the first attempt answered. */
export interface MadeBefore {
  /** The `id`, the `status` and the `secret` of the reply, and the session of its tokens; empty where it has none. */
  readonly id: string;
  readonly status: string;
  readonly secret: string;
  readonly sessionId: string;
  readonly recoveryCodes: readonly string[];
}

/** A route as data: the start checks it, each request enforces it, and the OpenAPI document publishes it. */
export interface RouteSpec<
  Kind extends AccessKind,
  Params extends PathParams,
  Query,
  Body,
  Replies extends ReplySpecs,
> {
  readonly method: Method;
  /** Parameters as `:name`. */
  readonly path: string;
  /** `operationId` of the OpenAPI document. */
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
  /** The route's own errors; none by default. The shell's errors are added. */
  readonly errors?: readonly ErrorCode[];
  /** The error for a missing part of the configuration. It runs for well-formed requests, before limits. */
  readonly lacks?: () => HttpError | null;
  /**
   * Checks what the schema cannot, and reads no store. It runs under the limits and before an `Idempotency-Key` is
   * claimed, so that a body that is not valid writes nothing. The command checks the same again.
   */
  readonly check?: (request: CheckedBody<Body>) => void;
  /**
   * Returns the guarded action (src/areas/accounts/commands/README.md#fresh-authentication) that this request is besides that of the policy; null: none.
   * It runs for well-formed requests of sessions.
   */
  guards?(
    request: Pick<RouteRequest<Params, Query, Body>, 'params' | 'body'> & Grants[Kind],
  ): GuardedAction | null;
  /**
   * Returns whether what the first attempt made was revoked or removed since. A repetition with the `Idempotency-Key` is 409 then, and
   * does not show it again.
   */
  isGone?(
    made: MadeBefore,
    request: { readonly params: Params; readonly time: Date } & Grants[Kind],
  ): boolean | Promise<boolean>;
  /**
   * Returns the device of the client, if the account or the share knows it; null: not. Limits per client and the guards of
   * passwords and codes have a part for it. It runs for well-formed requests, before the limits.
   */
  deviceOf?(
    request: Pick<RouteRequest<Params, Query, Body>, 'params' | 'body'> & Grants[Kind],
  ): Promise<KnownDevice | null>;
  /** One or several limits. If one of several refuses, none is charged. */
  readonly limit?: RouteLimit | readonly [RouteLimit, ...RouteLimit[]];
  /** Names the document below a project that the route shows. The gate reads it in one call with those that admit the request. */
  wanted?(params: Params): Wanted<JsonObject>;
  /** Accepts `Idempotency-Key`. `rerun`: a repetition runs again as the same command, and its reply is a new one. */
  readonly idempotent?: true | 'rerun';
  readonly ifMatch?: boolean;
  /** Success replies have an `ETag`, and a GET replies 304 to `If-None-Match`. */
  readonly entityTag?: boolean;
  /** By default `no-cache` for a GET of public access, else `no-store`. */
  readonly cacheControl?:
    | 'no-store'
    | 'no-cache'
    | `public, max-age=${number}`
    | `${'private' | 'public'}, max-age=31536000, immutable`;
  /** Whether the service serves the route even while it is not ready, once the port listens. */
  readonly always?: boolean;
  /** Whether the route answers however many requests run, because a supervisor ends a process that does not answer. */
  readonly unbounded?: true;
  handler(
    request: RouteRequest<Params, Query, Body> & Grants[Kind],
  ): Promise<Reply<NoInfer<Replies>>> | Reply<NoInfer<Replies>>;
}
