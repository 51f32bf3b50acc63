import { resolve } from 'node:path';
import { z } from 'zod';
import {
  absolutePath,
  addressList,
  cidrList,
  mailbox,
  millisecondList,
  milliseconds,
  origin,
  originList,
  port,
  probeTarget,
  proxyList,
  shareUrlTemplate,
  textList,
  wholeNumber,
} from './fields.js';
import { agentSecretProblems, keysFileProblems } from './parts/agent-secrets.js';
import { changesForDevelopment, drainSecondsOf } from './parts/development.js';
import {
  ConfigProblem,
  type Environment,
  collect,
  findMisspelt,
  isReadableByAll,
  readSecret,
  schemaProblems,
} from './sources.js';
import { type Limits, readLimits, readWebhooks } from './parts/limits.js';
import { type MailDestination, readMailDestination } from './parts/mail.js';
import {
  browserOriginsOf,
  corsOriginsOf,
  defaultMailFrom,
  paymentProblems,
  publicUrlOf,
  readPasskeys,
  readPayments,
  readPlans,
  readWitnesses,
  shareUrlTemplateOf,
} from './parts/parties.js';
import type { Witness } from '../areas/audit/signing/witnesses.js';
import { builtInPlans, type Plan } from '../areas/payments/domain/order/plans.js';
import type { NodeProbe } from '../areas/nodes/prober/prober.js';
import type { PasskeySettings } from '../security/tokens/webauthn.js';
import type { WebhookEndpoint } from '../webhooks/endpoint.js';
import type { Mailbox } from '../mail/errors.js';
import type { MailWaits } from '../mail/mail-outbox.js';
import type { SmtpTimes } from '../mail/mailer.js';
import {
  type ConfiguredPlatforms,
  paymentSecretNames,
  paymentVariableNames,
} from '../areas/payments/platforms/configured.js';

export { ConfigProblem };
export type { Limits };

/** Names of the variables with secrets. Each has a file variant, `<name>_FILE`. */
export const secretNames = [
  'EVENTSTOREDB_URL',
  'MONGODB_URL',
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
  'WEBHOOK_URLS',
  ...paymentSecretNames,
] as const;

export type SecretName = (typeof secretNames)[number];

/** The whole configuration, validated and complete. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute path of the directory of the embedded stores, the key file and the control socket. */
  readonly dataDirectory: string;
  readonly eventStoreDbUrl: string | undefined;
  /** Whether the service may speak to an EventStoreDB on another machine without TLS. */
  readonly eventStoreDbAllowInsecure: boolean;
  readonly mongoDbUrl: string | undefined;
  /** Absolute path of the keys of processes that share a store; embedded stores have `keys.json` in their directory. */
  readonly keysFile: string | undefined;
  readonly streamPrefix: string;
  /** Origin under which clients reach the service, without a trailing slash. */
  readonly publicUrl: string;
  /** The relying party of passkeys; null: browsers accept no passkey of this service. */
  readonly passkeys: PasskeySettings | null;
  readonly metricsPort: number | undefined;
  /** How the service probes nodes; undefined: it probes none. */
  readonly nodeProber: NodeProbe | undefined;
  /** Whether the service writes mails: `SMTP_URL` is set. */
  readonly mailConfigured: boolean;
  /** Whether the service writes mails to its log and sends none: `SMTP_URL` is `log:`, in a development start. */
  readonly mailsToLog: boolean;
  readonly mailFrom: Mailbox;
  readonly smtpTimes: SmtpTimes;
  readonly mailWaits: MailWaits;
  /** Who gets the daily mail about payments that wait; empty: it is not sent. */
  readonly operatorMail: readonly Mailbox[];
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For the service trusts. */
  readonly trustedProxies: readonly string[];
  readonly passwordExtraChecks: readonly ('local-part' | 'common')[];
  readonly defaultCapacityBytes: number;
  /** After so many days the service erases accounts whose address is not proved; 0: it erases none. */
  readonly unprovedAccountDays: number;
  readonly limits: Limits;
  /** The address that opens a share: a URL with `{token}` in place of its token. */
  readonly shareUrlTemplate: string;
  /** The origins of the pages that browsers open: of the service, of shares, and `ALLOWED_ORIGINS`. */
  readonly browserOrigins: readonly string[];
  /** The origins of pages that may read replies of the API; null for any, where `ALLOWED_ORIGINS` is empty. */
  readonly corsOrigins: readonly string[] | null;
  readonly plans: readonly Plan[];
  /** CIDR ranges that storage endpoints may lie in although they are not public. */
  readonly storageAllowedCidrs: readonly string[];
  /** Reads the payment variables, including secrets, again. */
  readonly payments: () => ConfiguredPlatforms;
  /** CIDR ranges that the endpoints of outgoing events may lie in although they are not public. */
  readonly webhookAllowedCidrs: readonly string[];
  /** Reads the endpoints of outgoing events, with their secrets, again. */
  readonly webhooks: () => readonly WebhookEndpoint[];
  /** Connections of one client address that the service holds at once. */
  readonly maxConnectionsPerClient: number;
  /** Requests that run or wait in the process. */
  readonly maxRequests: number;
  /** Seconds between the signal that ends the process and the end of its listener, while `/readyz` is 503. */
  readonly drainSeconds: number;
  /** Whether `NODE_ENV` is `production`. */
  readonly production: boolean;
  /** The folder that keeps every signed checkpoint; absolute. */
  readonly auditCheckpointDirectory: string | undefined;
  /** The witnesses that cosign checkpoints. */
  readonly auditWitnesses: readonly Witness[];
  /** `DEBUG`, with which some libraries print the data that they send. */
  readonly debug: string | undefined;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';
  /** Reads a secret again, also from a file; undefined if blank. @throws ConfigProblem if the file cannot be read */
  readonly secret: (name: SecretName) => string | undefined;
  /** Whether a secret is in a file, so that it can change while the process runs. */
  readonly isInFile: (name: SecretName) => boolean;
  /** Variables that the service does not know, each with the known one whose name it nearly has. */
  readonly misspelt: readonly { readonly variable: string; readonly meant: string }[];
  /** Whether one machine is the whole service, and no other machine reaches it. */
  readonly development: boolean;
  /** The variables that name files with secrets which every user of the machine may read. */
  readonly exposedSecretFiles: readonly string[];
}

/** Every variable that is not a secret, with its check and its default. `src/config/descriptions.ts` describes them. */
export const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8080),
  DATA_DIR: z.string().default('./data'),
  EVENTSTOREDB_URL: z
    .string()
    .regex(
      /^(esdb|kurrentdb)(\+discover)?:\/\//,
      'must be a connection string that starts with kurrentdb://, kurrentdb+discover://, esdb:// or esdb+discover://',
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
  KEYS_FILE: absolutePath.optional(),
  STREAM_PREFIX: z
    .string()
    .regex(
      /^[A-Za-z][A-Za-z0-9_.]{0,31}$/,
      'must be 1 to 32 letters, digits, dots or underscores, a letter first',
    )
    .default('stowage.'),
  PUBLIC_URL: origin.optional(),
  PASSKEY_RP_ID: z.string().optional(),
  PASSKEY_ORIGINS: textList.optional(),
  METRICS_PORT: port.optional(),
  NODE_PROBER: probeTarget.optional(),
  MAIL_FROM: mailbox.optional(),
  SMTP_CONNECT_MS: milliseconds.default(30_000),
  SMTP_GREETING_MS: milliseconds.default(300_000),
  SMTP_REPLY_MS: milliseconds.default(600_000),
  MAIL_RETRY_MS: milliseconds.default(1_000),
  MAIL_UNKNOWN_MS: millisecondList.default([60_000, 600_000, 3_600_000]),
  OPERATOR_MAIL: addressList.default([]),
  TRUSTED_PROXIES: proxyList.default([]),
  PASSWORD_EXTRA_CHECKS: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''))
    .pipe(z.array(z.enum(['local-part', 'common'])))
    .default([]),
  DEFAULT_CAPACITY_BYTES: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number of bytes')
    .transform(Number)
    .default(1_073_741_824),
  UNPROVED_ACCOUNT_DAYS: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a whole number of days, 0 to 9999')
    .transform(Number)
    .default(30),
  LIMITS_FILE: z.string().optional(),
  SHARE_URL_TEMPLATE: shareUrlTemplate.optional(),
  ALLOWED_ORIGINS: originList.default([]),
  PLANS_FILE: z.string().optional(),
  STORAGE_ALLOWED_CIDRS: cidrList.default([]),
  WEBHOOK_ALLOWED_CIDRS: cidrList.default([]),
  MAX_CONNECTIONS_PER_CLIENT: wholeNumber({ min: 1, max: 1_000 }).default(100),
  MAX_REQUESTS: wholeNumber({ min: 20, max: 10_000 }).default(200),
  DRAIN_SECONDS: wholeNumber({ min: 0, max: 300 }).optional(),
  AUDIT_CHECKPOINT_DIR: absolutePath.optional(),
  AUDIT_WITNESSES: z.string().optional(),
  NODE_ENV: z.string().optional(),
  DEBUG: z.string().optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info'),
});

/** Reads the configuration (docs/configuration.md#the-service). @throws ConfigProblem naming every problem at once */
export function readConfig(environment: Environment = process.env): Config {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const secret = (name: SecretName): string | undefined => readSecret(set, name);
  const problems: string[] = [];
  const secrets = new Map(secretNames.map((name) => [name, collect(problems, () => secret(name))]));
  // These two are settings, and also secrets because they may contain passwords.
  const urls = { EVENTSTOREDB_URL: secrets.get('EVENTSTOREDB_URL'), MONGODB_URL: secrets.get('MONGODB_URL') };
  const parsed = environmentSchema.safeParse({ ...set, ...urls });
  problems.push(...schemaProblems(environmentSchema, { ...set, ...urls }));
  const limits = collect(problems, () => readLimits(set['LIMITS_FILE'])) ?? {};
  const plans = collect(problems, () => readPlans(set['PLANS_FILE'])) ?? builtInPlans;
  const witnesses = witnessesOf(set, problems);
  problems.push(...paymentProblems(set));
  const mail =
    collect(problems, () => readMailDestination({ ...set, ...urls, SMTP_URL: secrets.get('SMTP_URL') })) ??
    'none';
  problems.push(...operatorMailProblems(set['OPERATOR_MAIL'], mail));
  const publicUrl = parsed.success ? publicUrlOf(parsed.data) : '';
  const passkeys = collect(problems, () => (parsed.success ? passkeysOf(publicUrl, parsed.data) : null));
  collect(problems, () => readWebhooks(secrets.get('WEBHOOK_URLS')));
  problems.push(...agentSecretProblems(secrets), ...keysFileProblems({ ...set, ...urls }));
  if (!parsed.success || problems.length > 0) {
    throw new ConfigProblem(
      `the configuration has problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
  }
  const values = parsed.data;
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    dataDirectory: resolve(values.DATA_DIR),
    eventStoreDbUrl: values.EVENTSTOREDB_URL,
    eventStoreDbAllowInsecure: values.EVENTSTOREDB_ALLOW_INSECURE,
    mongoDbUrl: values.MONGODB_URL,
    keysFile: values.KEYS_FILE,
    streamPrefix: values.STREAM_PREFIX,
    publicUrl,
    passkeys: passkeys ?? null,
    metricsPort: values.METRICS_PORT,
    nodeProber: values.NODE_PROBER,
    mailConfigured: mail !== 'none',
    mailsToLog: mail === 'log',
    mailFrom: values.MAIL_FROM ?? defaultMailFrom(publicUrl),
    smtpTimes: {
      connectMs: values.SMTP_CONNECT_MS,
      greetingMs: values.SMTP_GREETING_MS,
      replyMs: values.SMTP_REPLY_MS,
    },
    mailWaits: { retryMs: values.MAIL_RETRY_MS, unknownMs: values.MAIL_UNKNOWN_MS },
    operatorMail: values.OPERATOR_MAIL,
    trustedProxies: values.TRUSTED_PROXIES,
    passwordExtraChecks: values.PASSWORD_EXTRA_CHECKS,
    defaultCapacityBytes: values.DEFAULT_CAPACITY_BYTES,
    unprovedAccountDays: values.UNPROVED_ACCOUNT_DAYS,
    limits,
    shareUrlTemplate: shareUrlTemplateOf(publicUrl, values),
    browserOrigins: browserOriginsOf(publicUrl, values),
    corsOrigins: corsOriginsOf(publicUrl, values),
    plans,
    storageAllowedCidrs: values.STORAGE_ALLOWED_CIDRS,
    payments: () => readPayments(set).settings,
    webhookAllowedCidrs: values.WEBHOOK_ALLOWED_CIDRS,
    webhooks: () => readWebhooks(secret('WEBHOOK_URLS')),
    maxConnectionsPerClient: values.MAX_CONNECTIONS_PER_CLIENT,
    maxRequests: values.MAX_REQUESTS,
    drainSeconds: drainSecondsOf(values.DRAIN_SECONDS, { ...set, ...urls }),
    auditCheckpointDirectory: values.AUDIT_CHECKPOINT_DIR,
    auditWitnesses: witnesses,
    production: values.NODE_ENV === 'production',
    debug: values.DEBUG,
    logLevel: values.LOG_LEVEL,
    secret,
    isInFile: (name: SecretName) => set[`${name}_FILE`] !== undefined,
    misspelt: findMisspelt(
      Object.keys(set),
      [...Object.keys(environmentSchema.shape), ...paymentVariableNames],
      secretNames,
    ),
    development: changesForDevelopment({ ...set, ...urls }).length === 0,
    exposedSecretFiles: [...secretNames.map((name) => `${name}_FILE`), 'KEYS_FILE'].filter((variable) =>
      isReadableByAll(set[variable]),
    ),
  });
}

type Values = z.output<typeof environmentSchema>;

function witnessesOf({ AUDIT_WITNESSES: file }: Environment, problems: string[]): readonly Witness[] {
  return collect(problems, () => readWitnesses(file)) ?? [];
}

/** The form of the addresses is a check of `environmentSchema`. */
function operatorMailProblems(addresses: string | undefined, mail: MailDestination): readonly string[] {
  return addresses === undefined || mail !== 'none'
    ? []
    : ['OPERATOR_MAIL needs a mail server; set SMTP_URL too'];
}

function passkeysOf(publicUrl: string, { PASSKEY_RP_ID, PASSKEY_ORIGINS }: Values): PasskeySettings | null {
  return readPasskeys({ publicUrl, rpId: PASSKEY_RP_ID, origins: PASSKEY_ORIGINS });
}
