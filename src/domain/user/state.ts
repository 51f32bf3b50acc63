import type { Evolving } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { GrantSource } from '../fields.js';
import type { SessionEpoch } from '../session-epoch.js';
import type { PlatformRole, UserEvent } from './events.js';
import { noNotices, noticesAfter, type SecurityNotices } from './security-notices.js';

export type UserState =
  | { readonly status: 'absent' }
  | { readonly status: 'abandoned' }
  | RegisteredUser
  | { readonly status: 'erased'; readonly emailDigest: string };

export interface RegisteredUser extends SessionEpoch {
  readonly status: 'registered';
  readonly email: Sealed;
  readonly emailDigest: string;
  readonly emailVerified: boolean;
  readonly emailChange: EmailChange | null;
  /** Changes of address that were asked for, and when by the store's recorded time: the last few, oldest first. */
  readonly emailChangesAsked: readonly { readonly changeId: string; readonly askedAt: Date }[];
  readonly nickname: Sealed;
  /** Null: no password signs in; see `CredentialsVoided`. */
  readonly passwordHash: Sealed | null;
  /** Bytes by source. */
  readonly capacity: ReadonlyMap<GrantSource, number>;
  readonly platformRoles: ReadonlySet<PlatformRole>;
  readonly totp: Totp;
  /** Keyed digests of those that were not used. */
  readonly recoveryCodes: ReadonlySet<string>;
  readonly notices: SecurityNotices;
}

export interface EmailChange {
  readonly changeId: string;
  readonly email: Sealed;
  readonly emailDigest: string;
  readonly codeKeyId: string;
  readonly expiresAt: Date;
  readonly attempts: number;
  readonly mailed: boolean;
}

/** Changes of address that may be asked for in an hour: so many are remembered. */
export const emailChangesPerHour = 6;

export type Totp =
  | { readonly status: 'off' }
  | { readonly status: 'enrolling'; readonly enrolmentId: string; readonly secret: Sealed }
  | {
      readonly status: 'on';
      readonly enrolmentId: string;
      readonly secret: Sealed;
      /** Codes of this time step and of earlier ones are used up. */
      readonly lastStep: number;
    };

export function evolve(state: UserState, event: Evolving<UserEvent>): UserState {
  if (event.type === 'UserRegistered') {
    return {
      status: 'registered',
      email: event.data.email,
      emailDigest: event.data.email_digest,
      emailVerified: false,
      emailChange: null,
      emailChangesAsked: [],
      nickname: event.data.nickname,
      passwordHash: event.data.password_hash,
      capacity: new Map(),
      platformRoles: new Set(),
      epoch: 0,
      keptSessionId: null,
      totp: { status: 'off' },
      recoveryCodes: new Set(),
      notices: noNotices,
    };
  }
  if (event.type === 'RegistrationAbandoned') return { status: 'abandoned' };
  if (state.status !== 'registered') return state;
  if (event.type === 'UserErased') return { status: 'erased', emailDigest: state.emailDigest };
  return { ...state, ...changeOf(state, event), notices: noticesAfter(state, event) };
}

type Change = Exclude<UserEvent, { type: 'UserRegistered' | 'RegistrationAbandoned' | 'UserErased' }>;

function changeOf(state: RegisteredUser, event: Evolving<Change>): Partial<RegisteredUser> {
  switch (event.type) {
    case 'CapacityGranted':
      return { capacity: new Map(state.capacity).set(event.data.source, event.data.bytes) };
    case 'CapacityRevoked':
      return { capacity: without(state.capacity, event.data.source) };
    case 'PlatformRoleGranted':
      return { platformRoles: new Set(state.platformRoles).add(event.data.role) };
    case 'PlatformRoleRevoked':
      return { platformRoles: withoutMember(state.platformRoles, event.data.role) };
    case 'ProfileChanged':
      return { nickname: event.data.nickname };
    case 'EmailVerified':
      return { emailVerified: event.data.email_digest === state.emailDigest };
    case 'CredentialsVoided':
      return {
        passwordHash: null,
        epoch: state.epoch + 1,
        keptSessionId: null,
        totp: { status: 'off' },
        recoveryCodes: new Set(),
      };
    case 'EmailChangeRequested':
      return {
        emailChange: {
          changeId: event.data.change_id,
          email: event.data.email,
          emailDigest: event.data.email_digest,
          codeKeyId: event.data.code_key_id,
          expiresAt: new Date(event.data.expires_at),
          attempts: 0,
          mailed: false,
        },
        emailChangesAsked: [
          ...state.emailChangesAsked,
          { changeId: event.data.change_id, askedAt: event.recordedAt },
        ].slice(-emailChangesPerHour),
      };
    case 'EmailChangeMailed':
      return withEmailChange(state, event.data.change_id, () => ({ mailed: true }));
    case 'EmailChangeAttempted':
      return withEmailChange(state, event.data.change_id, ({ attempts }) => ({ attempts: attempts + 1 }));
    case 'EmailChanged': {
      const { email, email_digest: emailDigest } = event.data;
      return { email, emailDigest, emailVerified: true, emailChange: null };
    }
    case 'PasswordChanged':
      return {
        passwordHash: event.data.password_hash,
        epoch: state.epoch + 1,
        keptSessionId: event.data.kept_session_id,
      };
    case 'PasswordRehashed':
      return { passwordHash: event.data.password_hash };
    case 'SessionsRevoked':
      return { epoch: state.epoch + 1, keptSessionId: null };
    case 'TotpEnrolled': {
      const { enrolment_id: enrolmentId, secret } = event.data;
      return { totp: { status: 'enrolling', enrolmentId, secret } };
    }
    case 'TotpConfirmed':
      return state.totp.status === 'off'
        ? {}
        : { totp: { ...state.totp, status: 'on', lastStep: event.data.step } };
    case 'TotpStepUsed':
      return state.totp.status === 'on' ? { totp: { ...state.totp, lastStep: event.data.step } } : {};
    case 'TotpRemoved':
      return { totp: { status: 'off' }, recoveryCodes: new Set() };
    case 'RecoveryCodesIssued':
      return { recoveryCodes: new Set(event.data.digests) };
    case 'RecoveryCodeUsed':
      return { recoveryCodes: withoutMember(state.recoveryCodes, event.data.digest) };
  }
}

/** A later request has replaced the change that an event of an older one speaks of. */
function withEmailChange(
  { emailChange }: RegisteredUser,
  changeId: string,
  change: (current: EmailChange) => Partial<EmailChange>,
): Partial<RegisteredUser> {
  if (emailChange?.changeId !== changeId) return {};
  return { emailChange: { ...emailChange, ...change(emailChange) } };
}

function without<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

function withoutMember<Member>(set: ReadonlySet<Member>, member: Member): ReadonlySet<Member> {
  const rest = new Set(set);
  rest.delete(member);
  return rest;
}
