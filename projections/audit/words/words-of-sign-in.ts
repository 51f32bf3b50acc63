import type { EmailEvent } from '../../../src/areas/accounts/domain/email/events.js';
import type { LoginCodeEvent } from '../../../src/areas/accounts/domain/login-code/events.js';
import type { SecurityNoticeEvent } from '../../../src/areas/accounts/domain/security-notice/events.js';
import type {
  AuthenticationMethod,
  SessionEvent,
} from '../../../src/areas/accounts/domain/session/events.js';
import { outcomeInWords, type Phrases } from './phrases.js';

const methods: Readonly<Record<AuthenticationMethod, string>> = {
  pwd: 'a password',
  email: 'a mailed code',
  otp: 'a code of the second factor',
  passkey: 'a passkey',
  recovery: 'a recovery code',
};

const endings = {
  signed_out: 'the user signed out',
  revoked_by_user: 'the user ended it',
  refresh_token_reused: 'its refresh token was used twice',
  user_erased: 'the account was erased',
  session_limit: 'the account had too many sessions',
} as const;

const clients = { known: 'a known network', unknown: 'an unknown network' } as const;

/** The events of a session. */
export const sessionWords: Phrases<SessionEvent> = {
  SessionStarted: ({ user_id, amr, expires_at, user_agent }, id) =>
    `started session ${id} of user ${user_id} with ${amr.map((method) => methods[method]).join(' and ')}, ` +
    `until ${expires_at} at the latest${user_agent === null ? '' : '; the name of the client is sealed'}`,
  RefreshTokenRotated: ({ refresh_generation }, id) =>
    `renewed session ${id} with refresh token number ${refresh_generation}`,
  SessionStrengthened: ({ method }, id) => `strengthened session ${id} with ${methods[method]}`,
  SessionReauthenticated: ({ method }, id) => `authenticated again in session ${id} with ${methods[method]}`,
  RefreshTokenReuseDetected: ({ refresh_generation }, id) =>
    `presented the replaced refresh token number ${refresh_generation} of session ${id}; one holder has stolen it`,
  SessionRevoked: ({ reason }, id) => `ended session ${id}: ${endings[reason]}`,
};

/** The events of a mailed code for signing in. The stream's id is a digest of the address. */
export const loginCodeWords: Phrases<LoginCodeEvent> = {
  LoginCodeIssued: ({ issue_id, user_id, requester, expires_at }) =>
    `asked from ${clients[requester]} for sign-in code ${issue_id} of user ${user_id}, valid until ${expires_at}; the address is sealed`,
  LoginCodeWithheld: ({ requester }) =>
    `asked from ${clients[requester]} for a sign-in code of an address that has no account; no code was made`,
  LoginCodeMailed: ({ issue_id, outcome }) => `mailed sign-in code ${issue_id}; ${outcomeInWords(outcome)}`,
  LoginCodeAttemptFailed: ({ issue_id, requester }) =>
    `entered a wrong code for sign-in code ${issue_id} from ${clients[requester]}`,
  LoginCodeUsed: ({ issue_id }) => `signed in with sign-in code ${issue_id}`,
};

/** The events of an e-mail address. The stream's id is a digest of the address. */
export const emailWords: Phrases<EmailEvent> = {
  EmailReserved: ({ user_id, change_id }) =>
    `reserved an e-mail address for user ${user_id}` +
    (change_id === null ? '' : `, for address change ${change_id}`),
  EmailReleased: ({ user_id }) => `released an e-mail address of user ${user_id}`,
};

/** The mails about security. The stream's id is that of the event that the mail is about, or of the opened share. */
export const securityNoticeWords: Phrases<SecurityNoticeEvent> = {
  SecurityNoticeRequested: ({ kind, share_id, opened_at }) =>
    `requested the notice ${kind} about the first opening of share ${share_id} at ${opened_at}`,
  SecurityNoticeMailed: ({ user_id, kind, outcome }, id) =>
    `mailed user ${user_id} the notice ${kind} about event ${id}; ${outcomeInWords(outcome)}`,
};
