import type { IncomingMessage } from 'node:http';
import type { Clock } from '../event-sourcing/clock.js';
import { roleAtLeast } from '../domain/role.js';
import { isAuditor } from './access.js';
import type {
  AccessKind,
  ApiKeyCaller,
  Grants,
  Policy,
  ProjectAccess,
  ProjectPolicy,
  SessionCaller,
} from './access.js';
import type { CheckAgentSecret } from './agent-secret.js';
import type { Authenticator } from './authenticate.js';
import {
  bearerToken,
  presentedAgentSecret,
  presentedApiKey,
  refuseKey,
  unauthorized,
} from './credentials.js';
import { HttpError } from './http-error.js';
import { takeOne } from './limits.js';
import type { Limiter } from './limits.js';

export type PathParams = Readonly<Record<string, string>>;

export interface Admitted<Kind extends AccessKind, Params extends PathParams> {
  readonly grant: Grants[Kind];
  readonly params: Params;
}

/** Lets a request pass a route's policy. `readPath` parses the path's ids, whose place in the order is after 401. */
export type Gate = <Kind extends AccessKind, Params extends PathParams>(
  policy: Policy<Kind>,
  request: IncomingMessage,
  readPath: () => Params,
) => Admitted<Kind, Params> | Promise<Admitted<Kind, Params>>;

type GateByKind = {
  readonly [Kind in AccessKind]: <Params extends PathParams>(
    policy: Policy<Kind>,
    request: IncomingMessage,
    readPath: () => Params,
  ) => Admitted<Kind, Params> | Promise<Admitted<Kind, Params>>;
};

/** Part of the projects' reader. */
export interface ProjectDirectory {
  /** Null for a project that does not exist or is deleted. @throws StoreUnavailable */
  access(projectId: string): Promise<ProjectAccess | null>;
}

export interface GateDeps {
  readonly authenticator: Authenticator;
  readonly projects: ProjectDirectory;
  readonly checkAgentSecret: CheckAgentSecret;
  readonly limiter: Limiter;
  readonly clock: Clock;
}

/** How long a passed second factor counts as fresh: 15 minutes (DESIGN 4.1). */
const freshMs = 15 * 60 * 1000;

/**
 * Makes the gate. The order of checks is DESIGN section 4's: authentication 401, path id, key not allowed, membership,
 * role or scope, two-factor, entitlement.
 */
export function makeGate({ authenticator, projects, checkAgentSecret, limiter, clock }: GateDeps): Gate {
  const authenticate = async (request: IncomingMessage): Promise<SessionCaller | ApiKeyCaller> => {
    // A key that is present decides alone: a bad one is refused even beside a good token.
    const key = presentedApiKey(request);
    if (key !== null) {
      const caller = await authenticator.apiKey(key);
      takeOne(limiter, 'api_key', caller.keyId);
      return caller;
    }
    const token = bearerToken(request);
    if (token === null) throw unauthorized('sign in, or present an API key');
    const caller = await authenticator.session(token);
    takeOne(limiter, 'session', caller.sessionId);
    return caller;
  };

  const requireTwoFactor = (
    twoFactor: 'not-yet' | 'passed' | 'fresh',
    caller: SessionCaller,
    project: ProjectAccess | null,
  ): void => {
    if (project?.requireTwoFactor === true && !caller.twoFactorEnabled) {
      throw new HttpError('two_factor_required', 'the project requires two-factor authentication');
    }
    if (twoFactor === 'not-yet' || !caller.twoFactorEnabled) return;
    if (caller.strengthenedAt === null) {
      throw new HttpError('two_factor_required', 'the session has not passed two-factor authentication');
    }
    if (twoFactor === 'fresh' && clock.now().getTime() - caller.strengthenedAt.getTime() > freshMs) {
      throw new HttpError('two_factor_required', 'pass two-factor authentication again for this');
    }
  };

  const gates: GateByKind = {
    public: (_policy, _request, readPath) => ({
      grant: { caller: { kind: 'anonymous', actor: 'anonymous' } },
      params: readPath(),
    }),

    agent: (_policy, request, readPath) => {
      checkAgentSecret(presentedAgentSecret(request));
      return { grant: { caller: { kind: 'agent', actor: 'agent' } }, params: readPath() };
    },

    session: async (policy, request, readPath) => {
      const caller = await authenticate(request);
      const params = readPath();
      const session = refuseKey(caller);
      requireTwoFactor(policy.twoFactor, session, null);
      return { grant: { caller: session }, params };
    },

    operator: async (_policy, request, readPath) => {
      const caller = await authenticate(request);
      const params = readPath();
      const session = refuseKey(caller);
      if (!session.platformRoles.includes('operator')) {
        throw new HttpError('insufficient_role', 'this needs the platform role operator');
      }
      requireTwoFactor('passed', session, null);
      return { grant: { caller: session }, params };
    },

    project: async (policy, request, readPath) => {
      const caller = await authenticate(request);
      const params = readPath();
      if (policy.apiKey === 'refused') refuseKey(caller);
      const project = await enter(projects, policy, caller, params['projectId'] ?? '');
      if (caller.kind === 'session') requireTwoFactor(policy.twoFactor, caller, project);
      if (policy.entitlement !== undefined && !project.entitlements[policy.entitlement]) {
        throw new HttpError(
          'entitlement_required',
          `the project lacks the entitlement ${policy.entitlement}`,
        );
      }
      return { grant: { caller, project }, params };
    },
  };
  return (policy, request, readPath) => gates[policy.kind](policy, request, readPath);
}

/** Membership, then role or scope. A project that does not exist is one that nobody is a member of. */
async function enter(
  projects: ProjectDirectory,
  policy: ProjectPolicy,
  caller: SessionCaller | ApiKeyCaller,
  projectId: string,
): Promise<ProjectAccess> {
  const project = await projects.access(projectId);
  if (caller.kind === 'api_key') {
    if (project === null || caller.projectId !== project.id) throw missing(policy);
    if (!caller.scopes.includes(policy.apiKey)) {
      throw new HttpError('insufficient_scope', `the API key lacks the scope ${policy.apiKey}`);
    }
    return project;
  }
  if (project === null) throw missing(policy);
  if (policy.auditors === 'admitted' && isAuditor(caller)) return project;
  const role = project.roleOf(caller.userId);
  if (role === null) throw missing(policy);
  if (!roleAtLeast(role, policy.role)) {
    throw new HttpError('insufficient_role', `this needs the role ${policy.role}`);
  }
  return project;
}

function missing({ onMissing }: ProjectPolicy): HttpError {
  return onMissing === 'forbidden'
    ? new HttpError('forbidden', 'you are not a member of this project')
    : new HttpError('not_found', 'the project does not exist');
}
