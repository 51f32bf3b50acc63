import type { IncomingMessage } from 'node:http';
import type { ProjectAccess } from '../../../projections/projects/projects/reader.js';
import type { Clock } from '../../kit/time/clock.js';
import type { JsonObject } from '../../event-sourcing/ports/domain-event.js';
import type { Wanted } from '../../event-sourcing/views/views.js';
import { roleAtLeast } from '../../areas/projects/domain/role.js';
import { guard, type GuardedAction } from '../../areas/accounts/domain/guard.js';
import {
  isAuditor,
  type AccessKind,
  type ApiKeyCaller,
  type Grants,
  type Policy,
  type ProjectPolicy,
  type SessionCaller,
} from './access.js';
import {
  type CheckAgentSecret,
  bearerToken,
  presentedAgentSecret,
  presentedApiKey,
  refuseKey,
  unauthorized,
  type Authenticated,
  type Authenticator,
  type AuthenticatedRequest,
} from './authenticate.js';
import { HttpError } from '../replies/error-codes.js';
import { makeLru } from '../../kit/lru.js';
import { ipBuckets } from '../../security/rates/client-ip.js';
import type { RateKey } from '../../security/rates/rate-limit.js';
import {
  takeOne,
  type Limiter,
  type NoteAllowance,
  withWrongOnesLimited,
  type ChargeWork,
} from './limits.js';
import type { Admit } from './admission.js';

export type PathParams = Readonly<Record<string, string>>;

export interface Admitted<Kind extends AccessKind, Params extends PathParams> {
  readonly grant: Grants[Kind];
  readonly params: Params;
}

/** A request, the address of its client, and how it is admitted once its caller is known. */
interface GateRequest extends Pick<IncomingMessage, 'headers'> {
  readonly client: string;
  readonly admit: Admit;
  /** Receives what each limit of the caller still allows. */
  readonly noteAllowance: NoteAllowance;
  readonly chargeWork: ChargeWork;
  /** See `RouteSpec`. */
  readonly wanted?: (params: PathParams) => Wanted<JsonObject> | null;
}

/** Applies a route's policy to a request. `readPath` parses the ids of the path, whose check comes after 401. */
export type Gate = <Kind extends AccessKind, Params extends PathParams>(
  policy: Policy<Kind>,
  request: GateRequest,
  readPath: () => Params,
) => Admitted<Kind, Params> | Promise<Admitted<Kind, Params>>;

type GateByKind = {
  readonly [Kind in AccessKind]: <Params extends PathParams>(
    policy: Policy<Kind>,
    request: GateRequest,
    readPath: () => Params,
  ) => Admitted<Kind, Params> | Promise<Admitted<Kind, Params>>;
};

interface GateDeps {
  readonly authenticator: Authenticator;
  readonly checkAgentSecret: CheckAgentSecret;
  readonly limiter: Limiter;
  readonly clock: Clock;
}

/** Refuses a session that may not carry out an action now. @throws HttpError 403, which names the ways that the account has */
export function requireGuarded(action: GuardedAction, { factors, proofs }: SessionCaller, now: Date): void {
  const refusal = guard(action, factors, proofs, now);
  if (refusal !== null) throw new HttpError(refusal.code, refusal.message);
}

/** Makes the gate, which checks in the order of src/http/README.md#order-of-checks. */
export function makeGate({ authenticator, checkAgentSecret, limiter, clock }: GateDeps): Gate {
  // Keys that worked before skip the limit of the address, so wrong keys behind the same NAT do not block them.
  const seenKeys = makeLru<number>(10_000);
  const checkApiKey = async (
    key: string,
    client: string,
    at: AuthenticatedRequest,
  ): Promise<Authenticated<ApiKeyCaller>> => {
    if (seenKeys.get(key) !== undefined) return authenticator.apiKey(key, at);
    const authenticated = await withWrongOnesLimited(limiter, 'wrong_api_key', client, () =>
      authenticator.apiKey(key, at),
    );
    seenKeys.set(key, 1);
    return authenticated;
  };
  const authenticate = async (
    request: GateRequest,
    path: PathParams | null,
  ): Promise<Authenticated<SessionCaller | ApiKeyCaller>> => {
    const { client, admit } = request;
    const wanted = path === null ? null : (request.wanted?.(path) ?? null);
    const at = { projectId: path?.['projectId'] ?? null, wanted, client, admit };
    // A present key decides alone: an invalid one is refused even beside a valid token.
    const key = presentedApiKey(request);
    if (key !== null) {
      const authenticated = await checkApiKey(key, request.client, at);
      request.noteAllowance(takeOne(limiter, 'api_key', authenticated.caller.keyId));
      request.chargeWork('work_user', authenticated.caller.issuedBy);
      return authenticated;
    }
    const token = bearerToken(request);
    if (token === null) throw unauthorized('sign in, or present an API key');
    const authenticated = await authenticator.session(token, at);
    request.noteAllowance(takeOne(limiter, 'session', authenticated.caller.sessionId));
    request.noteAllowance(takeOne(limiter, 'user', sessionsOf(authenticated.caller, clock.now())));
    request.chargeWork('work_user', authenticated.caller.userId);
    return authenticated;
  };
  /** Admits a signed-in user whose session may carry out the action, and who has the platform role if one is given. */
  const admitUser = async <Params extends PathParams>(
    action: GuardedAction,
    request: GateRequest,
    readPath: () => Params,
    role: 'operator' | 'auditor' | null = null,
  ) => {
    const { caller } = await authenticate(request, null);
    const params = readPath();
    const session = refuseKey(caller);
    if (role !== null && !session.platformRoles.includes(role))
      throw new HttpError('insufficient_role', `this needs the platform role ${role}`);
    requireGuarded(action, session, clock.now());
    return { grant: { caller: session }, params };
  };
  const gates: GateByKind = {
    public: ({ isCharged }, { client, chargeWork }, readPath) => {
      if (isCharged === true) chargeWork('work_user', ipBuckets(client));
      return { grant: { caller: { kind: 'anonymous', actor: 'anonymous' } }, params: readPath() };
    },
    // Agents poll, and their secret is mostly checked at once. So their gate makes a promise only when it has to wait.
    agent: (_policy, request, readPath) => {
      const secret = presentedAgentSecret(request);
      const check = () => checkAgentSecret(secret);
      // A request without a secret is no guess.
      const checked =
        secret === null
          ? check()
          : withWrongOnesLimited(limiter, 'wrong_agent_secret', request.client, check);
      const admit = (): Admitted<'agent', ReturnType<typeof readPath>> => ({
        grant: { caller: { kind: 'agent', actor: 'agent' } },
        params: readPath(),
      });
      return checked instanceof Promise ? checked.then(admit) : admit();
    },
    session: ({ action }, request, readPath) => admitUser(action, request, readPath),
    operator: ({ action }, request, readPath) => admitUser(action, request, readPath, 'operator'),
    auditor: ({ action }, request, readPath) => admitUser(action, request, readPath, 'auditor'),
    project: async (policy, request, readPath) => {
      const path = readEarly(readPath);
      const { caller, project: entered, found } = await authenticate(request, path.early);
      const params = path.read();
      if (policy.apiKey === 'refused') refuseKey(caller);
      const project = enter(policy, caller, entered, clock.now());
      request.chargeWork('work_project', sharesOf(project.id, caller));
      if (caller.kind === 'session') {
        if (project.requireTwoFactor) requireGuarded('enter_guarded_project', caller, clock.now());
        requireGuarded(policy.action, caller, clock.now());
      }
      if (policy.entitlement !== undefined && !project.entitlements[policy.entitlement]) {
        throw new HttpError(
          'entitlement_required',
          `the project lacks the entitlement ${policy.entitlement}`,
        );
      }
      return { grant: { caller, project, found }, params };
    },
  };
  return (policy, request, readPath) => gates[policy.kind](policy, request, readPath);
}

/** A thief of the password alone begins sessions that do not pass TOTP. They use up nothing of the owner's, so they count apart. */
function sessionsOf({ userId, factors, proofs }: SessionCaller, now: Date): string {
  return guard('use', factors, proofs, now) === null ? userId : `${userId} without TOTP`;
}

/** A person has at most half of a project's work, so that no member keeps out the others. */
function sharesOf(projectId: string, caller: SessionCaller | ApiKeyCaller): RateKey {
  const userId = caller.kind === 'session' ? caller.userId : caller.issuedBy;
  return [
    { key: projectId, factor: 1 },
    { key: `${projectId}/${userId}`, factor: 0.5 },
  ];
}

/** Reads the path before the caller is known, so that one call reads the project too. Its error comes after 401. */
function readEarly<Params extends PathParams>(readPath: () => Params) {
  try {
    const params = readPath();
    return { early: params, read: () => params };
  } catch {
    return { early: null, read: readPath };
  }
}

/** Checks membership, then role or scope. A project that does not exist has no members, so the reply is the same. */
function enter(
  policy: ProjectPolicy,
  caller: SessionCaller | ApiKeyCaller,
  project: ProjectAccess | null,
  now: Date,
): ProjectAccess {
  if (project === null) throw missing(policy);
  if (caller.kind === 'api_key') {
    if (!caller.scopes.includes(policy.apiKey))
      throw new HttpError('insufficient_scope', `the API key lacks the scope ${policy.apiKey}`);
    return project;
  }
  const role = project.roleOf(caller.userId);
  if (role !== null && roleAtLeast(role, policy.role)) return project;
  if (policy.auditors === 'admitted' && isAuditor(caller)) {
    requireGuarded('audit', caller, now);
    return project;
  }
  if (role === null && !(policy.auditors === 'forbidden' && isAuditor(caller))) throw missing(policy);
  throw new HttpError('insufficient_role', `this needs the role ${policy.role}`);
}

function missing({ onMissing }: ProjectPolicy): HttpError {
  return onMissing === 'forbidden'
    ? new HttpError('forbidden', 'you are not a member of this project')
    : new HttpError('not_found', 'the project does not exist');
}
