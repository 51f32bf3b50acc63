import { guessing } from '../guessing/guessing.js';
import type { NamedLimit, RateLimit } from './rate-limit.js';

/** The limits without `LIMITS_FILE`. `guessing.ts` has those against guessing; docs/limits.md#limits says what each counts. */
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
