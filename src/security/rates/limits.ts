import { guessing } from '../guessing/guessing.js';
import type { NamedLimit, RateLimit } from './rate-limit.js';

/** The limits without `LIMITS_FILE`. `guessing.ts` has those against guessing; `limitDescriptions` describes each. */
export const defaultLimits = {
  register: { limit: 60, seconds: 3600, failsClosed: true },
  login: { ...guessing.password.client.login, failsClosed: true },
  email_code: { ...guessing.signInCode.code.mails.email_code, failsClosed: true },
  email_code_day: { ...guessing.signInCode.code.mails.email_code_day, failsClosed: true },
  email_change: { ...guessing.addressChangeCode.code.mails.email_change, failsClosed: true },
  passkey_options: { limit: 60, seconds: 60, failsClosed: true },
  email_revert: { ...guessing.addressRevertCode.client.email_revert, failsClosed: true },
  refresh: { limit: 60, seconds: 60, failsClosed: true },
  two_factor: { ...guessing.secondFactor.client.two_factor, failsClosed: true },
  share_verify: { ...guessing.sharePassword.client.share_verify, failsClosed: true },
  share_describe: { limit: 60, seconds: 60, failsClosed: true },
  share_media: { limit: 60, seconds: 60, failsClosed: true },
  playlist: { limit: 240, seconds: 60, failsClosed: true },
  invitation_project: { limit: 200, seconds: 86_400 },
  invitation_inviter: { limit: 300, seconds: 86_400 },
  invitation_address: { limit: 10, seconds: 86_400 },
  share_mail_project: { limit: 200, seconds: 86_400 },
  share_mail_sender: { limit: 50, seconds: 86_400 },
  share_mail_address: { limit: 5, seconds: 86_400 },
  verification_address: { limit: 10, seconds: 86_400 },
  node_checks: { limit: 600, seconds: 60, failsClosed: true },
  wrong_agent_secret: { limit: 20, seconds: 60, failsClosed: true },
  wrong_api_key: { limit: 60, seconds: 60, failsClosed: true },
  register_invalid: { limit: 60, seconds: 600, failsClosed: true },
  session: { limit: 600, seconds: 60 },
  user: { limit: 1200, seconds: 60 },
  api_key: { limit: 600, seconds: 60 },
  work_user: { limit: 120_000, seconds: 60 },
  work_project: { limit: 240_000, seconds: 60 },
} as const satisfies Record<string, NamedLimit>;

export type LimitName = keyof typeof defaultLimits;

/** The counts of the limits, for docs/limits.md#limits. "Client" is a client address: IPv4, or an IPv6 /64. */
export const limitDescriptions: Readonly<Record<LimitName, string>> = {
  register: 'registrations of a client that end in 201 or 409',
  login:
    'sign-ins and reauthentications by password or code and changes of a password, of a client, with every outcome',
  email_code: 'requests of a client for a sign-in code; the service checks it together with `email_code_day`',
  email_code_day: 'the same in a day; a request that one of the two limits refuses counts in neither',
  email_change:
    'codes to prove an address that a client requests, for its account or for another address; also taken addresses (409)',
  passkey_options: 'challenges for a sign-in by passkey that a client requests',
  email_revert: 'attempts of a client to undo a change of address',
  refresh: 'token refreshes of a client',
  two_factor: 'attempts of a client at a second factor',
  share_verify: 'attempts of a client at share passwords; checked before the service hashes anything',
  share_describe: 'requests of a client for the facts that a share shows before its password',
  playlist: 'requests of a client for HLS playlists',
  share_media: 'renewals of media URLs by a visitor of a share, per client',
  invitation_project:
    'invitations, added members, higher roles and offers in one project, withdrawn ones too; in all processes',
  invitation_inviter: 'the same by one user; in all processes',
  invitation_address: 'the same to one address; in all processes',
  share_mail_project: 'addresses to which the link of a share of one project is mailed; in all processes',
  share_mail_sender: 'the same by one user, with the API keys that the user issued; in all processes',
  share_mail_address: 'mails with the link of a share to one address, of all projects; in all processes',
  verification_address:
    'codes that the service mails to one address to prove it, also to accounts that are erased; in all processes',
  node_checks: 'checks of one node that the service counts',
  wrong_agent_secret: 'wrong agent secrets of a client; beyond it the service refuses right ones, too',
  wrong_api_key:
    'wrong API keys of a client; beyond it the service refuses keys that it has not seen in the process before',
  register_invalid: 'registrations of a client that end in 400 although the body has the right form',
  session: 'requests of one session',
  user: 'requests of all sessions of one user together; those that lack TOTP where it is on count apart',
  api_key: 'requests with one API key',
  work_user:
    'documents and events that stores return to the requests of one user, with the API keys that the user issued; for visitors of shares and players of playlists, of a client',
  work_project:
    'the same of all requests for one project by its members and API keys; half of it for one user, with the API keys that the user issued',
};

/** Returns the defaults with changes by name. @throws Error that names the unknown limits */
export function limitsFrom(
  changes: Readonly<Record<string, RateLimit>>,
): Readonly<Record<LimitName, NamedLimit>> {
  const limits: Record<LimitName, NamedLimit> = { ...defaultLimits };
  const unknown: string[] = [];
  for (const [name, change] of Object.entries(changes)) {
    if (isLimitName(name)) limits[name] = { ...limits[name], ...change };
    else unknown.push(name);
  }
  if (unknown.length === 0) return limits;
  const names = Object.keys(defaultLimits).join(', ');
  throw new Error(`LIMITS_FILE: there is no limit named ${unknown.join(', ')}; there are ${names}`);
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(defaultLimits, name);
}
