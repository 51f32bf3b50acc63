import type { ProjectAccess } from '../../../projections/projects/projects/reader.js';
import type { UserAccess } from '../../../projections/accounts/users/reader.js';
import type { Role } from '../../areas/projects/domain/role.js';
import type { Scope } from '../../areas/projects/domain/scope.js';

/** Events record `actor`: see `EventMetadata.actor`. */
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
  /** `amr` of the session. */
  readonly methods: readonly string[];
  /** When the session last signed in or authenticated again. */
  readonly authenticatedAt: Date;
  /** When the session last proved a mailed code; null if it never did. */
  readonly emailCodeAt: Date | null;
  readonly platformRoles: readonly string[];
  readonly twoFactorEnabled: boolean;
  /** TOTP is on, or the session began with a passkey and the user has one still: what `require_2fa` asks for. */
  readonly meetsTwoFactor: boolean;
  /** When the session last passed a second factor; null if it never did. */
  readonly strengthenedAt: Date | null;
  /** The user as the gate read it. */
  readonly user: UserAccess;
}
export interface ApiKeyCaller extends Caller<'api_key'> {
  readonly keyId: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
}

export interface PublicPolicy {
  readonly kind: 'public';
}

/** For users without a second factor. `fresh`: signed in or authenticated again within the last 15 minutes. */
export type SignInAge = 'any' | 'fresh';

/** Admits a signed-in user. With TOTP on, the session must have passed it, except on routes of signing in. */
export interface SessionPolicy {
  readonly kind: 'session';
  readonly twoFactor: 'not-yet' | 'passed' | 'fresh';
  readonly signIn: SignInAge;
}

/** Admits a member of the project in `:projectId`, an API key of it with a permitted scope, and auditors if so set. */
export interface ProjectPolicy {
  readonly kind: 'project';
  readonly role: Role;
  readonly apiKey: Scope | 'refused';
  /** Platform auditors, members or not. Only calls that change nothing admit them. */
  readonly auditors: 'admitted' | 'refused';
  /** The reply to a malformed id in the path: 400 for create storage, 404 for all other routes. */
  readonly badId: 'invalid_request' | 'not_found';
  /** For a project that does not exist or is not the caller's: 403 for create storage, 404 for all other routes. */
  readonly onMissing: 'forbidden' | 'not_found';
  /** `fresh`: with TOTP on, the session must have passed it within the last 15 minutes. */
  readonly twoFactor: 'passed' | 'fresh';
  readonly signIn: SignInAge;
  readonly entitlement?: 'allow_s3';
}

/** Admits an edge agent, by the shared secret. */
export interface AgentPolicy {
  readonly kind: 'agent';
}

/** Admits a signed-in user with the platform role `operator`. `required`: with a second factor, and a fresh one. */
export interface OperatorPolicy {
  readonly kind: 'operator';
  readonly twoFactor: 'passed' | 'required';
}

/** Admits a signed-in user with the platform role `auditor`. */
export interface AuditorPolicy {
  readonly kind: 'auditor';
}

export interface Policies {
  readonly public: PublicPolicy;
  readonly session: SessionPolicy;
  readonly project: ProjectPolicy;
  readonly agent: AgentPolicy;
  readonly operator: OperatorPolicy;
  readonly auditor: AuditorPolicy;
}
export type AccessKind = keyof Policies;
export type Policy<Kind extends AccessKind = AccessKind> = Policies[Kind] & { readonly kind: Kind };

export interface Grants {
  readonly public: { readonly caller: AnonymousCaller };
  readonly session: { readonly caller: SessionCaller };
  readonly project: { readonly caller: SessionCaller | ApiKeyCaller; readonly project: ProjectAccess };
  readonly agent: { readonly caller: AgentCaller };
  readonly operator: { readonly caller: SessionCaller };
  readonly auditor: { readonly caller: SessionCaller };
}

export const publicAccess: PublicPolicy = { kind: 'public' };
export const agentAccess: AgentPolicy = { kind: 'agent' };
export const operatorAccess: OperatorPolicy = { kind: 'operator', twoFactor: 'passed' };
export const auditorAccess: AuditorPolicy = { kind: 'auditor' };
/** For calls of operators that settle payments. */
export const operatorWithFactor: OperatorPolicy = { kind: 'operator', twoFactor: 'required' };
/** A fresh second factor goes with a fresh sign-in of users who have none. */
export const sessionAccess = (
  twoFactor: SessionPolicy['twoFactor'] = 'passed',
  signIn: SignInAge = twoFactor === 'fresh' ? 'fresh' : 'any',
): SessionPolicy => ({ kind: 'session', twoFactor, signIn });
/** The defaults are the rules of almost every project call. */
export const projectAccess = (
  policy: Pick<ProjectPolicy, 'role' | 'apiKey'> & Partial<ProjectPolicy>,
): ProjectPolicy => ({
  kind: 'project',
  auditors: 'refused',
  badId: 'not_found',
  onMissing: 'not_found',
  twoFactor: 'passed',
  signIn: 'any',
  ...policy,
});

export function isAuditor({ platformRoles }: SessionCaller): boolean {
  return platformRoles.includes('auditor');
}
