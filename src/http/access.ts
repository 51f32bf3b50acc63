import type { Role } from '../domain/role.js';
import type { Scope } from '../domain/scope.js';

/** Who calls. `actor` is what events record: see `EventMetadata.actor`. */
interface Caller<Kind extends string> {
  readonly kind: Kind;
  readonly actor: string;
}
export type AnonymousCaller = Caller<'anonymous'>;
export type AgentCaller = Caller<'agent'>;
export interface SessionCaller extends Caller<'session'> {
  readonly userId: string;
  readonly sessionId: string;
  readonly sessionEpoch: number;
  /** How the user signed in: `amr` of the session. */
  readonly methods: readonly string[];
  readonly authenticatedAt: Date;
  readonly platformRoles: readonly string[];
  readonly twoFactorEnabled: boolean;
  /** When the session last passed a second factor; null when it never did. */
  readonly strengthenedAt: Date | null;
}
export interface ApiKeyCaller extends Caller<'api_key'> {
  readonly keyId: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
}

/** Anybody. */
export interface PublicPolicy {
  readonly kind: 'public';
}

/** A signed-in user. With TOTP on, a session that never passed it is refused unless the route is part of signing in. */
export interface SessionPolicy {
  readonly kind: 'session';
  readonly twoFactor: 'not-yet' | 'passed' | 'fresh';
}

/** A member of the project named by `:projectId`, an API key of it where a scope is named, or an auditor where admitted. */
export interface ProjectPolicy {
  readonly kind: 'project';
  readonly role: Role;
  readonly apiKey: Scope | 'refused';
  /** Platform auditors, members or not; only where nothing is changed. */
  readonly auditors: 'admitted' | 'refused';
  /** What a malformed id in the path is: create storage says 400, all else 404. */
  readonly badId: 'invalid_request' | 'not_found';
  /** What a project that does not exist, or is not the caller's, is: create storage says 403, all else 404. */
  readonly onMissing: 'forbidden' | 'not_found';
  /** `fresh`: with TOTP on, it must have been passed within the last 15 minutes. */
  readonly twoFactor: 'passed' | 'fresh';
  readonly entitlement?: 'allow_s3';
}

/** An edge agent, by the shared secret. */
export interface AgentPolicy {
  readonly kind: 'agent';
}

/** A signed-in user with the platform role `operator`. */
export interface OperatorPolicy {
  readonly kind: 'operator';
}

/** What the gate and the handlers may know of a project. */
export interface ProjectAccess {
  readonly id: string;
  readonly requireTwoFactor: boolean;
  readonly entitlements: { readonly allow_s3: boolean };
  readonly defaultStorageId: string | null;
  /** Null for users that are no members. */
  roleOf(userId: string): Role | null;
}

export interface Policies {
  readonly public: PublicPolicy;
  readonly session: SessionPolicy;
  readonly project: ProjectPolicy;
  readonly agent: AgentPolicy;
  readonly operator: OperatorPolicy;
}
export type AccessKind = keyof Policies;
export type Policy<Kind extends AccessKind = AccessKind> = Policies[Kind] & { readonly kind: Kind };

/** What passing a policy tells the handler. */
export interface Grants {
  readonly public: { readonly caller: AnonymousCaller };
  readonly session: { readonly caller: SessionCaller };
  readonly project: { readonly caller: SessionCaller | ApiKeyCaller; readonly project: ProjectAccess };
  readonly agent: { readonly caller: AgentCaller };
  readonly operator: { readonly caller: SessionCaller };
}

export const publicAccess: PublicPolicy = { kind: 'public' };
export const agentAccess: AgentPolicy = { kind: 'agent' };
export const operatorAccess: OperatorPolicy = { kind: 'operator' };
export const sessionAccess = (twoFactor: SessionPolicy['twoFactor'] = 'passed'): SessionPolicy => ({
  kind: 'session',
  twoFactor,
});
/** Access to a project; what is left out is the rule of nearly every project call. */
export const projectAccess = (
  policy: Pick<ProjectPolicy, 'role' | 'apiKey'> & Partial<ProjectPolicy>,
): ProjectPolicy => ({
  kind: 'project',
  auditors: 'refused',
  badId: 'not_found',
  onMissing: 'not_found',
  twoFactor: 'passed',
  ...policy,
});

export function isAuditor({ platformRoles }: SessionCaller): boolean {
  return platformRoles.includes('auditor');
}
