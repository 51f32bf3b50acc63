import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { changeBy, type ChangesBy } from '../../../../event-sourcing/ports/events.js';
import { type UserEvent, type VoidedCredential, voidedCredential } from '../user/events.js';

/** The credentials of a user. The state folds them; the view folds what it shows of them by the questions below. */
export interface Credentials {
  /** Null: no password signs in; see `CredentialsVoided`. */
  readonly password_hash: Sealed | null;
  /** The store's recorded time of the registration or of the last PasswordChanged. */
  readonly passwordSetAt: Date;
  readonly totp: Totp;
  /** Keyed digests of the unused codes. */
  readonly recoveryCodes: ReadonlySet<string>;
  /** The store's recorded time; null: none were issued. */
  readonly recoveryCodesIssuedAt: Date | null;
  /** In order of registration. */
  readonly passkeys: readonly Passkey[];
}

export type Totp =
  | { readonly status: 'off' }
  | { readonly status: 'enrolling'; readonly enrolment_id: string; readonly secret: Sealed }
  | TotpOn;

export interface TotpOn {
  readonly status: 'on';
  readonly enrolment_id: string;
  readonly secret: Sealed;
  /** Codes of this time step and of earlier ones are used up. */
  readonly lastStep: number;
  /** The store's recorded time. */
  readonly confirmedAt: Date;
}

type Registered = Extract<UserEvent, { type: 'PasskeyRegistered' }>['data'];

/**
 * A passkey as a user's state keeps it. `counter`: the last signature counter that was accepted; 0 where the authenticator counts nothing.
 * `synced`: devices share the passkey, and each of them counts for itself.
 */
export interface Passkey extends Readonly<Omit<Registered, 'transports' | 'backed_up' | 'aaguid'>> {
  /** The store's recorded time. */
  readonly registeredAt: Date;
}

/** Returns the kinds of credentials that end with the event. Of passkeys, `endsPasskey` says which. */
export function voidedBy(event: UserEvent): readonly VoidedCredential[] {
  if (event.type === 'CredentialsVoided') return voidedCredential.options;
  if (event.type === 'TotpRemoved')
    return event.data.recovery_codes === 'end' ? ['totp', 'recovery_codes'] : ['totp'];
  return event.type === 'EmailChangeReverted' ? event.data.voided : [];
}

export function endsPasskey(event: UserEvent, passkeyId: string): boolean {
  if (event.type === 'PasskeyRemoved') return event.data.passkey_id === passkeyId;
  if (!voidedBy(event).includes('passkeys')) return false;
  return event.type !== 'EmailChangeReverted' || !event.data.kept_passkeys.includes(passkeyId);
}

/** Returns whether the recovery codes end with the event. @param isFactorLeft whether the account has a factor after the event */
export function endsRecoveryCodes(event: UserEvent, isFactorLeft: boolean): boolean {
  if (voidedBy(event).includes('recovery_codes')) return true;
  return !isFactorLeft && (event.type === 'TotpRemoved' || event.type === 'PasskeyRemoved');
}

/** Returns whether the user has a second factor. */
export function hasFactor({ totp, passkeys }: Pick<Credentials, 'totp' | 'passkeys'>): boolean {
  return totp.status === 'on' || passkeys.length > 0;
}

export function newCredentials(password_hash: Sealed, passwordSetAt: Date): Credentials {
  return {
    ...{ password_hash, passwordSetAt, totp: { status: 'off' } },
    ...{ recoveryCodes: new Set(), recoveryCodesIssuedAt: null, passkeys: [] },
  };
}

/** Returns the credentials that the event changes. */
export function credentialsAfter(before: Credentials, event: Evolving<UserEvent>): Partial<Credentials> {
  const voided = voidedBy(event);
  const changed: Partial<Credentials> = {
    ...changeBy(changes, event, before),
    ...(voided.includes('password') && { password_hash: null }),
    ...(voided.includes('totp') && { totp: { status: 'off' } }),
  };
  const { totp = before.totp, passkeys: registered = before.passkeys } = changed;
  const passkeys = registered.filter(({ passkey_id }) => !endsPasskey(event, passkey_id));
  const endsCodes = endsRecoveryCodes(event, hasFactor({ totp, passkeys }));
  return { ...changed, passkeys, ...(endsCodes && { recoveryCodes: new Set() }) };
}

const changes: ChangesBy<Evolving<UserEvent>, Credentials, Partial<Credentials>> = {
  PasswordChanged: (event) => ({ password_hash: event.data.password_hash, passwordSetAt: event.recordedAt }),
  PasswordRehashed: (event) => ({ password_hash: event.data.password_hash }),
  TotpEnrolled: (event) => {
    const { enrolment_id, secret } = event.data;
    return { totp: { status: 'enrolling', enrolment_id, secret } };
  },
  TotpConfirmed: (event, { totp }) =>
    totp.status === 'off'
      ? {}
      : { totp: { ...totp, status: 'on', lastStep: event.data.step, confirmedAt: event.recordedAt } },
  TotpStepUsed: (event, { totp }) =>
    totp.status === 'on' ? { totp: { ...totp, lastStep: event.data.step } } : {},
  RecoveryCodesIssued: (event) => ({
    recoveryCodes: new Set(event.data.digests),
    recoveryCodesIssuedAt: event.recordedAt,
  }),
  RecoveryCodeUsed: (event, before) => {
    const recoveryCodes = new Set(before.recoveryCodes);
    recoveryCodes.delete(event.data.digest);
    return { recoveryCodes };
  },
  PasskeyRegistered: (event, { passkeys }) => {
    const { passkey_id, credential_digest, credential, counter, synced, name } = event.data;
    const kept = { passkey_id, credential_digest, credential, counter, synced, name };
    return { passkeys: [...passkeys, { ...kept, registeredAt: event.recordedAt }] };
  },
  PasskeyUsed: ({ data: { passkey_id, counter } }, { passkeys }) => ({
    passkeys: changedPasskey(passkeys, passkey_id, { counter }),
  }),
  PasskeyRenamed: ({ data: { passkey_id, name } }, { passkeys }) => ({
    passkeys: changedPasskey(passkeys, passkey_id, { name }),
  }),
};

function changedPasskey(
  passkeys: readonly Passkey[],
  id: string,
  change: Partial<Passkey>,
): readonly Passkey[] {
  return passkeys.map((passkey) => (passkey.passkey_id === id ? { ...passkey, ...change } : passkey));
}
