import { rejectUser } from './user/rejections.js';

/** The second factors, the weaker first. A recovery code counts as either (src/areas/accounts/commands/README.md#fresh-authentication). */
type Factor = 'totp' | 'passkey';

/** What an account has. */
export interface AccountFactors {
  readonly totp: boolean;
  readonly passkey: boolean;
  /** How many recovery codes are unused. */
  readonly recoveryCodes: number;
  /** When the oldest of them that is this factor or a stronger one began; null: it has none. An earlier proof does not count. */
  readonly since: Readonly<Record<Factor, Date | null>>;
}

/** What a session has proved. */
export interface SessionProofs {
  /** The last sign-in or reauthentication. */
  readonly authenticatedAt: Date;
  /** When the session last passed this factor or a stronger one; null: never. */
  readonly passedAt: Readonly<Record<Factor, Date | null>>;
}

/** What an action needs of a session. `fresh`: within the last 15 minutes. */
export type Need =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'fresh-sign-in' }
  /** The account has no factor, and needs one. */
  | { readonly kind: 'a-factor' }
  /** The named factor or a stronger one. */
  | { readonly kind: 'passed' | 'fresh'; readonly factor: Factor };

export const noFactors: AccountFactors = {
  ...{ totp: false, passkey: false, recoveryCodes: 0 },
  since: { totp: null, passkey: null },
};

const freshMs = 15 * 60_000;

const nothing: Need = { kind: 'nothing' };
const freshSignIn: Need = { kind: 'fresh-sign-in' };
const aFactor: Need = { kind: 'a-factor' };

type Rule = (account: AccountFactors) => Need;

const strongestOf = ({ totp, passkey }: AccountFactors): Factor | null =>
  passkey ? 'passkey' : totp ? 'totp' : null;
const weakestOf = ({ totp, passkey }: AccountFactors): Factor | null =>
  totp ? 'totp' : passkey ? 'passkey' : null;

const rule =
  (kind: 'passed' | 'fresh', which: typeof strongestOf, without: Need): Rule =>
  (account) => {
    const factor = which(account);
    return factor === null ? without : { kind, factor };
  };

/** With TOTP on, a session begins with a factor. A passkey alone leaves the other ways to sign in open. */
const signedIn: Rule = ({ totp }) => (totp ? { kind: 'passed', factor: 'totp' } : nothing);
/** The body has a code of TOTP, or the session has proved a passkey. */
const codeInBody: Rule = (account) =>
  account.totp && !account.passkey ? signedIn(account) : guardsFactors(account);
const guardsFactors = rule('fresh', strongestOf, freshSignIn);
const takesOver = rule('fresh', weakestOf, freshSignIn);
const changes = rule('fresh', weakestOf, nothing);
const oversees = rule('passed', strongestOf, aFactor);
const decides = rule('fresh', strongestOf, aFactor);

/** What each action needs. The table of docs/accounts.md#fresh-authentication is made of it. */
const rules = {
  /** Read the own account, pass a factor, sign out here. */
  begin: () => nothing,
  /** Prove a passkey in a session that has passed no factor yet. */
  reauthenticate: (account) => (account.passkey ? nothing : signedIn(account)),
  /** Everything that is not named here. */
  use: signedIn,
  enter_guarded_project: rule('passed', weakestOf, aFactor),
  add_totp: guardsFactors,
  add_passkey: guardsFactors,
  remove_totp: codeInBody,
  remove_passkey: guardsFactors,
  replace_recovery_codes: codeInBody,
  issue_api_key: guardsFactors,
  set_require_2fa: decides,
  unset_require_2fa: guardsFactors,
  change_password: takesOver,
  change_address: takesOver,
  delete_account: takesOver,
  accept_invitation: takesOver,
  change_owners: takesOver,
  offer_billing: takesOver,
  allow_open_shares: takesOver,
  change_members: changes,
  change_storages: changes,
  delete_project: changes,
  operate: oversees,
  decide_on_payments: decides,
  audit: oversees,
} as const satisfies Readonly<Record<string, Rule>>;

export type GuardedAction = keyof typeof rules;
export const guardedActions = Object.keys(rules) as readonly GuardedAction[];

export function needOf(action: GuardedAction, account: AccountFactors): Need {
  return rules[action](account);
}

export interface GuardRefusal {
  readonly code: 'two_factor_required' | 'reauthentication_required';
  /** Names the ways that the account has. */
  readonly message: string;
}

/** Returns whether a proof is of the last 15 minutes. One that is further ahead is of a clock that was set back since. */
export function isFresh(at: Date, now: Date): boolean {
  return Math.abs(now.getTime() - at.getTime()) <= freshMs;
}

/** Decides whether a session may carry out an action now; null: it may. */
export function guard(
  action: GuardedAction,
  account: AccountFactors,
  { authenticatedAt, passedAt }: SessionProofs,
  now: Date,
): GuardRefusal | null {
  const need = needOf(action, account);
  switch (need.kind) {
    case 'nothing':
      return null;
    case 'fresh-sign-in':
      return isFresh(authenticatedAt, now) ? null : staleSignIn;
    case 'a-factor':
      return noFactor;
    case 'passed':
    case 'fresh': {
      const [passed, since] = [passedAt[need.factor], account.since[need.factor]];
      // The proof may be of a stolen factor that was removed since.
      const at = passed !== null && since !== null && passed < since ? null : passed;
      if (at !== null && (need.kind === 'passed' || isFresh(at, now))) return null;
      return {
        code: 'two_factor_required',
        message: `${whyNot(need, account, at)}; ${waysOf(need, account)}`,
      };
    }
  }
}

const staleSignIn: GuardRefusal = {
  code: 'reauthentication_required',
  message: 'sign in again, or prove the password or a mailed code by POST /auth/reauthenticate',
};
const noFactor: GuardRefusal = {
  code: 'two_factor_required',
  message:
    'your account has no second factor; add a passkey (POST /auth/passkey-options) or an authenticator app (POST /auth/2fa/totp) first',
};

type FactorNeed = Extract<Need, { factor: Factor }>;

function whyNot({ factor }: FactorNeed, { totp }: AccountFactors, at: Date | null): string {
  const what =
    factor === 'passkey' && totp ? 'the strongest second factor of the account' : 'the second factor';
  return at === null
    ? `the session has not passed ${what}`
    : `the session passed ${what} more than 15 minutes ago`;
}

function waysOf({ factor }: FactorNeed, { totp, passkey, recoveryCodes }: AccountFactors): string {
  const codes = [
    ...(totp && factor === 'totp' ? ['a code of the authenticator app'] : []),
    ...(recoveryCodes > 0 ? ['a recovery code'] : []),
  ];
  const ways = [
    ...(passkey ? ['your passkey by POST /auth/reauthenticate'] : []),
    ...(codes.length > 0 ? [`${codes.join(' or ')} by POST /auth/2fa/verify`] : []),
  ];
  return `prove ${ways.join(', or ')}`;
}

/** The part of a user's stream that ends sessions: those of an older epoch have ended, except the kept one. */
export type SessionEpoch = {
  /** Counts PasswordChanged, SessionsRevoked, CredentialsVoided, EmailChangeReverted and UserBanned. */
  readonly epoch: number;
  /** The session that the last of these events kept; null if it kept none. */
  readonly kept_session_id: string | null;
};

/** The session of a request. `epoch` is the user's epoch at its start. */
export interface RequestSession {
  readonly id: string;
  readonly epoch: number;
}

/** Returns whether the user's stream has not ended the session. */
export function sessionHolds(user: SessionEpoch, session: RequestSession): boolean {
  return session.epoch >= user.epoch || session.id === user.kept_session_id;
}

/**
 * Checks it once more in a decision: a session may have ended since its request was authenticated, and what it changes would outlive
 * its end. @throws CommandRejected session_ended
 */
export function requireSession(user: SessionEpoch, session: RequestSession): void {
  if (!sessionHolds(user, session)) rejectUser('session_ended', 'the session has ended');
}
