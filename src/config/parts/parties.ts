import { isIP } from 'node:net';
import type { Mailbox } from '../../mail/mailer.js';
import { listProblems } from '../../validation/field-problems.js';
import { fieldProblems } from '../../validation/zod-problems.js';
import { type Plan, builtInPlans, plans as plansSchema } from '../../areas/payments/domain/order/plans.js';
import {
  keyDirectoryProblems,
  paymentSecretNames,
  readPaymentSettings,
} from '../../areas/payments/platforms/configured.js';
import { ConfigProblem, type Environment, collect, readFile, readJson, readSecret } from '../sources.js';
import type { PasskeySettings } from '../../security/tokens/webauthn.js';
import { type Witness, parseWitnesses } from '../../areas/audit/signing/witnesses.js';

/** Reads `AUDIT_WITNESSES`: a file with one line `<vkey> <url>` a witness. @throws ConfigProblem */
export function readWitnesses(file: string | undefined): readonly Witness[] {
  if (file === undefined) return [];
  const text = readFile('AUDIT_WITNESSES', file);
  try {
    return parseWitnesses(text);
  } catch (error) {
    throw new ConfigProblem(error instanceof Error ? error.message : 'AUDIT_WITNESSES has another form');
  }
}

/**
 * Returns the relying party of passkeys; null where `PUBLIC_URL` names none and no other setting does: browsers take
 * only a domain over https, or localhost. @throws ConfigProblem for settings that no browser accepts
 */
export function readPasskeys(
  publicUrl: string,
  {
    PASSKEY_RP_ID: rpId,
    PASSKEY_ORIGINS: origins,
  }: {
    readonly PASSKEY_RP_ID?: string | undefined;
    readonly PASSKEY_ORIGINS?: readonly string[] | undefined;
  },
): PasskeySettings | null {
  const url = new URL(publicUrl);
  const settings = { rpId: rpId ?? url.hostname, origins: origins ?? [url.origin] };
  const problem = problemOf(settings);
  if (problem === null) return settings;
  if (rpId === undefined && origins === undefined) return null;
  throw new ConfigProblem(problem);
}

/** An origin of an Android app, which browsers do not write. */
const androidOrigin = /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/;

function problemOf({ rpId, origins }: PasskeySettings): string | null {
  if (!isRelyingParty(rpId)) {
    return 'PASSKEY_RP_ID must be a domain such as example.org, or localhost; by default it is the host of PUBLIC_URL';
  }
  const wrong = origins.some((text) => !androidOrigin.test(text) && !isPageOf(rpId, text));
  if (!wrong && origins.length > 0) return null;
  return `PASSKEY_ORIGINS must list origins like https://app.${rpId}, of the domain ${rpId} or below it, separated by commas`;
}

function isRelyingParty(rpId: string): boolean {
  if (rpId === 'localhost') return true;
  return (
    isIP(rpId) === 0 && /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*$/.test(rpId)
  );
}

function isPageOf(rpId: string, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  const secure = protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost');
  return origin === text && secure && (hostname === rpId || hostname.endsWith(`.${rpId}`));
}

/** Reads the plans: `PLANS_FILE`, or the built-in ones. @throws ConfigProblem */
export function readPlans(file: string | undefined): readonly Plan[] {
  if (file === undefined) return builtInPlans;
  const given = readJson('PLANS_FILE', file);
  const parsed = plansSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigProblem(
    `PLANS_FILE ${file} must be [{"id", "name", "prices": {"USD": 999}, "grants": {"capacity_bytes": n} or ` +
      `{"entitlement": "allow_s3"}}, …]: ${listProblems(fieldProblems(plansSchema, given))}`,
  );
}

/** Reads the payment variables and their problems. @throws ConfigProblem when a named file cannot be read */
export function readPayments(environment: Environment): ReturnType<typeof readPaymentSettings> {
  return readPaymentSettings((name) =>
    paymentSecretNames.includes(name) ? readSecret(environment, name) : environment[name],
  );
}

/** Returns the problems of the payment variables and of the directories of keys that they name, one sentence each. */
export function paymentProblems(environment: Environment): readonly string[] {
  // `readConfig` already reports secrets that cannot be read.
  const payments = collect([], () => readPayments(environment));
  if (payments === undefined) return [];
  return [...payments.problems, ...keyDirectoryProblems(payments.settings)];
}

/** The settings that name addresses of the service and of pages. */
interface Addresses {
  readonly HOST: string;
  readonly PORT: number;
  readonly PUBLIC_URL?: string | undefined;
  readonly SHARE_URL_TEMPLATE?: string | undefined;
  readonly ALLOWED_ORIGINS: readonly string[];
}

/** Returns the origin under which clients reach the service, without a trailing slash. */
export function publicUrlOf({
  PUBLIC_URL,
  HOST,
  PORT,
}: Pick<Addresses, 'PUBLIC_URL' | 'HOST' | 'PORT'>): string {
  if (PUBLIC_URL !== undefined) return new URL(PUBLIC_URL).origin;
  // The zone of an address is known to this machine alone, and no URL has one (WHATWG URL).
  return `http://${isIP(HOST) === 6 ? `[${HOST.replace(/%.*/, '')}]` : HOST}:${PORT}`;
}

/** Returns the address that opens a share, with `{token}` in place of its token. */
export function shareUrlTemplateOf(
  publicUrl: string,
  { SHARE_URL_TEMPLATE }: Pick<Addresses, 'SHARE_URL_TEMPLATE'>,
): string {
  return SHARE_URL_TEMPLATE ?? `${publicUrl}/s/{token}`;
}

/** Returns the origins of the pages that browsers open: of the service, of shares, and `ALLOWED_ORIGINS`. */
export function browserOriginsOf(
  publicUrl: string,
  settings: Pick<Addresses, 'SHARE_URL_TEMPLATE' | 'ALLOWED_ORIGINS'>,
): readonly string[] {
  const ofShares = shareUrlTemplateOf(publicUrl, settings).replace('{token}', '');
  const origins = [publicUrl, ofShares, ...settings.ALLOWED_ORIGINS].map((url) => new URL(url).origin);
  return [...new Set(origins)];
}

/** Returns the origins of pages that may read replies of the API; null for any, where `ALLOWED_ORIGINS` is empty. */
export function corsOriginsOf(
  publicUrl: string,
  settings: Pick<Addresses, 'SHARE_URL_TEMPLATE' | 'ALLOWED_ORIGINS'>,
): readonly string[] | null {
  return settings.ALLOWED_ORIGINS.length === 0 ? null : browserOriginsOf(publicUrl, settings);
}

/** Returns the default sender. Mail servers accept no IP address as a sender's domain. */
export function defaultMailFrom(publicUrl: string): Mailbox {
  const { hostname } = new URL(publicUrl);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return { name: 'Stowage', address: `no-reply@${isAddress ? 'localhost' : hostname}` };
}
