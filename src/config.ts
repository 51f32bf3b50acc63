import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { builtInPlans, type Plan, plans as plansSchema } from './domain/order/plans.js';
import { defaultLimits } from './http/limits.js';
import { type Mailbox, parseMailbox } from './integrations/mail/mailbox.js';
import { parseSmtpUrl } from './integrations/mail/smtp-url.js';
import { keyDirectoryProblems } from './integrations/payments/payment-providers.js';
import {
  type PaymentSettings,
  paymentSecretNames,
  readPaymentSettings,
} from './integrations/payments/payment-settings.js';

/** Names of the variables that hold secrets; each may instead be given as a file, `<name>_FILE`. */
export const secretNames = [
  'NODE_AGENT_SECRET',
  'NODE_AGENT_SECRET_PREVIOUS',
  'JWT_KEYS',
  'MASTER_KEYS',
  'REFRESH_KEYS',
  'CODE_KEYS',
  'PEPPERS',
  'INDEX_KEY',
  'AUDIT_SIGNING_KEYS',
  'SMTP_URL',
  ...paymentSecretNames,
] as const;

export type SecretName = (typeof secretNames)[number];

/** Named limits of LIMITS_FILE: so many in so many seconds. */
export type Limits = Readonly<Record<string, { readonly limit: number; readonly seconds: number }>>;

/** Everything that the environment decides, checked and complete. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute path of the directory of the embedded stores, the key file and the control socket. */
  readonly dataDirectory: string;
  readonly eventStoreDbUrl: string | undefined;
  /** Whether an EventStoreDB beyond this machine may be spoken to without TLS. */
  readonly eventStoreDbAllowInsecure: boolean;
  readonly mongoDbUrl: string | undefined;
  readonly streamPrefix: string;
  /** Origin under which clients reach the service, without a trailing slash. */
  readonly publicUrl: string;
  readonly metricsPort: number | undefined;
  /** Whether mail can be sent: `SMTP_URL` is set. */
  readonly mailConfigured: boolean;
  /** Whom mail is from. */
  readonly mailFrom: Mailbox;
  /** CIDR ranges of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly passwordExtraChecks: readonly ('local-part' | 'common')[];
  readonly defaultCapacityBytes: number;
  readonly limits: Limits;
  /** Where people open a share: a URL with `{token}` in place of its token. */
  readonly shareUrlTemplate: string;
  /** What can be bought. */
  readonly plans: readonly Plan[];
  /** CIDR ranges, otherwise refused, that storage endpoints may lie in. */
  readonly storageAllowedCidrs: readonly string[];
  /** What the payment variables say, secrets among it, read anew. */
  readonly payments: () => PaymentSettings;
  /** `NODE_ENV` is `production`. */
  readonly production: boolean;
  /** `DEBUG`, which makes some libraries print what they send. */
  readonly debug: string | undefined;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';
  /**
   * The current text of a secret, read anew from its file if it is given as one; undefined when not configured or blank.
   * @throws ConfigProblem when the file cannot be read
   */
  readonly secret: (name: SecretName) => string | undefined;
}

/** The environment does not make a configuration. The message names every problem, one a line, and no value of a secret. */
export class ConfigProblem extends Error {
  override readonly name = 'ConfigProblem';
}

type Environment = Readonly<Record<string, string | undefined>>;

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port number, at most 65535');

const cidrList = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''))
  .refine(
    (items) => items.every(isCidr),
    'must be a list of CIDR ranges such as 10.0.0.0/8, separated by commas',
  );

const origin = z.string().refine(isOrigin, 'must be an http or https origin such as https://api.example.org');

const shareUrlTemplate = z
  .string()
  .refine(
    isShareUrlTemplate,
    'must be an http or https URL that names {token} once, behind its host, such as https://media.example.org/s/{token}',
  );

const mailbox = z.string().transform((text, context) => {
  const parsed = parseMailbox(text);
  if (parsed !== null) return parsed;
  context.addIssue('must be an address, alone or as in: Name <name@example.org>');
  return z.NEVER;
});

const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  DATA_DIR: z.string().default('./data'),
  EVENTSTOREDB_URL: z
    .string()
    .regex(
      /^esdb(\+discover)?:\/\//,
      'must be a connection string that starts with esdb:// or esdb+discover://',
    )
    .optional(),
  EVENTSTOREDB_ALLOW_INSECURE: z.stringbool().default(false),
  MONGODB_URL: z
    .string()
    .regex(
      /^mongodb(\+srv)?:\/\//,
      'must be a connection string that starts with mongodb:// or mongodb+srv://',
    )
    .optional(),
  STREAM_PREFIX: z
    .string()
    .regex(
      /^[A-Za-z][A-Za-z0-9_.]{0,31}$/,
      'must be 1 to 32 letters, digits, dots or underscores, a letter first',
    )
    .default('stowage.'),
  PUBLIC_URL: origin.optional(),
  METRICS_PORT: port.optional(),
  MAIL_FROM: mailbox.optional(),
  TRUSTED_PROXIES: cidrList.default([]),
  PASSWORD_EXTRA_CHECKS: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''))
    .pipe(z.array(z.enum(['local-part', 'common'])))
    .default(['local-part', 'common']),
  DEFAULT_CAPACITY_BYTES: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number of bytes')
    .transform(Number)
    .default(1_073_741_824),
  LIMITS_FILE: z.string().optional(),
  SHARE_URL_TEMPLATE: shareUrlTemplate.optional(),
  PLANS_FILE: z.string().optional(),
  STORAGE_ALLOWED_CIDRS: cidrList.default([]),
  NODE_ENV: z.string().optional(),
  DEBUG: z.string().optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info'),
});

const limitsSchema = z.record(
  z.string(),
  z.strictObject({ limit: z.int().positive(), seconds: z.number().positive() }),
);

/**
 * Reads the configuration (DESIGN section 6). An empty variable counts as not set.
 * @throws ConfigProblem naming every problem at once
 */
export function readConfig(environment: Environment = process.env): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environmentSchema.safeParse(set);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  const secret = (name: SecretName): string | undefined => readSecret(set, name);
  const limits = collect(problems, () => readLimits(set['LIMITS_FILE'])) ?? {};
  const plans = collect(problems, () => readPlans(set['PLANS_FILE'])) ?? builtInPlans;
  for (const name of secretNames) collect(problems, () => secret(name));
  problems.push(...paymentProblems(set));
  const mailConfigured = collect(problems, () => isMailConfigured(secret)) ?? false;
  if (!parsed.success || problems.length > 0) {
    throw new ConfigProblem(
      `the configuration has problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
  }
  const values = parsed.data;
  const publicUrl = (values.PUBLIC_URL ?? defaultPublicUrl(values.HOST, values.PORT)).replace(/\/$/, '');
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    dataDirectory: resolve(values.DATA_DIR),
    eventStoreDbUrl: values.EVENTSTOREDB_URL,
    eventStoreDbAllowInsecure: values.EVENTSTOREDB_ALLOW_INSECURE,
    mongoDbUrl: values.MONGODB_URL,
    streamPrefix: values.STREAM_PREFIX,
    publicUrl,
    metricsPort: values.METRICS_PORT,
    mailConfigured,
    mailFrom: values.MAIL_FROM ?? defaultMailFrom(publicUrl),
    trustedProxies: values.TRUSTED_PROXIES,
    passwordExtraChecks: values.PASSWORD_EXTRA_CHECKS,
    defaultCapacityBytes: values.DEFAULT_CAPACITY_BYTES,
    limits,
    shareUrlTemplate: values.SHARE_URL_TEMPLATE ?? `${publicUrl}/s/{token}`,
    plans,
    storageAllowedCidrs: values.STORAGE_ALLOWED_CIDRS,
    payments: () => readPayments(set).settings,
    production: values.NODE_ENV === 'production',
    debug: values.DEBUG,
    logLevel: values.LOG_LEVEL,
    secret,
  });
}

function collect<Result>(problems: string[], read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

function readSecret(environment: Environment, name: SecretName): string | undefined {
  const file = environment[`${name}_FILE`];
  const direct = environment[name];
  if (file !== undefined && direct !== undefined)
    throw new ConfigProblem(`${name} and ${name}_FILE are both set; set one`);
  const text = file === undefined ? direct : readFile(`${name}_FILE`, file);
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

/** @throws ConfigProblem when a file that is named cannot be read */
function readPayments(environment: Environment): ReturnType<typeof readPaymentSettings> {
  return readPaymentSettings((name) =>
    isSecretName(name) ? readSecret(environment, name) : environment[name],
  );
}

function paymentProblems(environment: Environment): readonly string[] {
  // Secrets that cannot be read are named already.
  const payments = collect([], () => readPayments(environment));
  if (payments === undefined) return [];
  return [...payments.problems, ...keyDirectoryProblems(payments.settings)];
}

function isSecretName(name: string): name is SecretName {
  return secretNames.some((one) => one === name);
}

function readLimits(file: string | undefined): Limits {
  if (file === undefined) return {};
  const parsed = limitsSchema.safeParse(readJson('LIMITS_FILE', file));
  if (parsed.success) {
    const unknown = Object.keys(parsed.data).filter((name) => !Object.hasOwn(defaultLimits, name));
    if (unknown.length === 0) return parsed.data;
    const known = Object.keys(defaultLimits).join(', ');
    throw new ConfigProblem(
      `LIMITS_FILE ${file}: there is no limit named ${unknown.join(', ')}; there are ${known}`,
    );
  }
  const [issue] = parsed.error.issues;
  throw new ConfigProblem(
    `LIMITS_FILE ${file} must be {"name": {"limit": n, "seconds": s}, …}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  );
}

function readPlans(file: string | undefined): readonly Plan[] {
  if (file === undefined) return builtInPlans;
  const parsed = plansSchema.safeParse(readJson('PLANS_FILE', file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ConfigProblem(
    `PLANS_FILE ${file} must be [{"id", "name", "prices": {"USD": 999}, "grants": {"capacity_bytes": n} or ` +
      `{"entitlement": "allow_s3"}}, …]: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  );
}

function readJson(variable: string, file: string): unknown {
  const text = readFile(variable, file);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ConfigProblem(`${variable} ${file} is not JSON`);
  }
}

function readFile(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new ConfigProblem(`${variable} names ${file}, which cannot be read (${code})`);
  }
}

function defaultPublicUrl(host: string, portNumber: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${portNumber}`;
}

/** @throws ConfigProblem when it is set to something else */
function isMailConfigured(secret: (name: SecretName) => string | undefined): boolean {
  const url = secret('SMTP_URL');
  if (url !== undefined && parseSmtpUrl(url) === null) {
    throw new ConfigProblem(
      'SMTP_URL must be like smtp://user:password@mail.example.org:587 (or smtps://), special characters of user and ' +
        'password percent-encoded, without a path or a query',
    );
  }
  return url !== undefined;
}

/** An address literal is no sender that anybody accepts. */
function defaultMailFrom(publicUrl: string): Mailbox {
  const { hostname } = new URL(publicUrl);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return { name: 'Stowage', address: `no-reply@${isAddress ? 'localhost' : hostname}` };
}

function isCidr(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

function isShareUrlTemplate(text: string): boolean {
  if (text.split('{token}').length !== 2) return false;
  const [one, other] = ['a', 'b'].map((token) => text.replace('{token}', token));
  if (one === undefined || other === undefined || !URL.canParse(one) || !URL.canParse(other)) return false;
  const { protocol, host, username } = new URL(one);
  // Names of hosts are looked up in clear.
  return /^https?:$/.test(protocol) && host === new URL(other).host && username === '';
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const bare =
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  return (url.protocol === 'http:' || url.protocol === 'https:') && bare;
}
