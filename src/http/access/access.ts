import type { ProjectAccess } from '../../../projections/projects/projects/reader.js';
import type { FoundDocument } from '../../event-sourcing/views/views.js';
import type { UserAccess } from '../../../projections/accounts/users/reader.js';
import type { Role, Scope } from '../../areas/projects/domain/role.js';
import type { AccountFactors, GuardedAction, SessionProofs } from '../../areas/accounts/domain/guard.js';

/** Events record `actor`: see `EventMetadata.actor`. */
interface Caller<Kind extends string> {
  readonly kind: Kind;
  readonly actor: string;
}
type AnonymousCaller = Caller<'anonymous'>;
type AgentCaller = Caller<'agent'>;
/** The user of the machine, who may open the socket of operators: see `src/operating/socket/`. */
export type OperatorCaller = Caller<'operator'>;
export interface SessionCaller extends Caller<'session'> {
  readonly userId: string;
  readonly sessionId: string;
  readonly sessionEpoch: number;
  /** When the session last proved a mailed code; null if it never did. */
  readonly emailCodeAt: Date | null;
  readonly platformRoles: readonly string[];
  readonly factors: AccountFactors;
  readonly proofs: SessionProofs;
  /** The user as the gate read it. */
  readonly user: UserAccess;
}
export interface ApiKeyCaller extends Caller<'api_key'> {
  readonly keyId: string;
  /** The user who answers for the key. */
  readonly issuedBy: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
}

interface PublicPolicy {
  readonly kind: 'public';
  /** Whether the work of a request is charged to its client. Sign-ins have limits for themselves, so no neighbour uses them up. */
  readonly isCharged?: true;
}

/** Admits a signed-in user whose session may carry out the action (src/areas/accounts/commands/README.md#fresh-authentication). */
type SessionPolicy = { readonly kind: 'session'; readonly action: GuardedAction };

/** Admits a member of the project in `:projectId`, an API key of it with a permitted scope, and auditors if so set. */
export interface ProjectPolicy {
  readonly kind: 'project';
  readonly role: Role;
  readonly apiKey: Scope | 'refused';
  /**
   * Platform auditors who are no members. Only calls that change nothing admit them. `refused`: as strangers. `forbidden`: 403, where
   * they read what the call is about.
   */
  readonly auditors: 'admitted' | 'refused' | 'forbidden';
  /** The reply to a malformed id in the path: 400 for create storage, 404 for all other routes. */
  readonly badId: 'invalid_request' | 'not_found';
  /** For a project that does not exist or is not the caller's: 403 for create storage, 404 for all other routes. */
  readonly onMissing: 'forbidden' | 'not_found';
  /** What the session of a member must be allowed to do. */
  readonly action: GuardedAction;
  readonly entitlement?: 'allow_s3';
}

/** Admits an edge agent, by the shared secret. */
type AgentPolicy = { readonly kind: 'agent' };

/** Admits a signed-in user with the platform role `operator` whose session may carry out the action. */
type OperatorPolicy = { readonly kind: 'operator'; readonly action: GuardedAction };

/** Admits a signed-in user with the platform role `auditor` whose session may carry out the action. */
type AuditorPolicy = { readonly kind: 'auditor'; readonly action: GuardedAction };

interface Policies {
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
  readonly project: {
    readonly caller: SessionCaller | ApiKeyCaller;
    readonly project: ProjectAccess;
    /** The document that the route wants. */
    readonly found?: FoundDocument;
  };
  readonly agent: { readonly caller: AgentCaller };
  readonly operator: { readonly caller: SessionCaller | OperatorCaller };
  readonly auditor: { readonly caller: SessionCaller };
}

export const publicAccess: PublicPolicy = { kind: 'public' };
export const visitorAccess: PublicPolicy = { kind: 'public', isCharged: true };
export const agentAccess: AgentPolicy = { kind: 'agent' };
export const operatorAccess: OperatorPolicy = { kind: 'operator', action: 'operate' };
export const auditorAccess: AuditorPolicy = { kind: 'auditor', action: 'audit' };
/** For calls of operators that settle payments. */
export const settlesPayments: OperatorPolicy = { kind: 'operator', action: 'decide_on_payments' };
export const sessionAccess = (action: GuardedAction = 'use'): SessionPolicy => ({ kind: 'session', action });
/** The defaults are the rules of almost every project call. */
export const projectAccess = (
  policy: Pick<ProjectPolicy, 'role' | 'apiKey'> & Partial<ProjectPolicy>,
): ProjectPolicy => ({
  kind: 'project',
  auditors: 'refused',
  badId: 'not_found',
  onMissing: 'not_found',
  action: 'use',
  ...policy,
});

/** Returns whether the work of requests is charged: to users, to the issuers of API keys, and to the clients of visitors. */
export function chargesWork(policy: Policy): boolean {
  return policy.kind === 'public' ? policy.isCharged === true : policy.kind !== 'agent';
}

export function isAuditor({ platformRoles }: SessionCaller): boolean {
  return platformRoles.includes('auditor');
}
