import { resolve } from 'node:path';
import { z } from 'zod';
import {
  absolutePath,
  addressList,
  cidrList,
  host,
  mailbox,
  millisecondList,
  milliseconds,
  origin,
  originList,
  plainText,
  port,
  probeTarget,
  proxyList,
  shareUrlTemplate,
  textList,
  wholeNumber,
} from './fields.js';
import { agentSecretNames, agentSecretProblems, keysFileProblems } from './parts/agent-secrets.js';
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
import { builtInPlans } from '../areas/payments/domain/order/plans.js';
import { paymentSecretNames, paymentVariableNames } from '../areas/payments/platforms/configured.js';

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

/** Secrets whose files may be empty at the start. Without another one the service would use other stores, keys or no mails. */
const mayBeEmpty: ReadonlySet<SecretName> = new Set([
  ...agentSecretNames,
  'WEBHOOK_URLS',
  ...paymentSecretNames,
]);

/** The whole configuration, validated and complete. */
export type Config = ReturnType<typeof readConfig>;

const variables = z.object({
  HOST: host.default('127.0.0.1'),
  PORT: port.default(8080),
  DATA_DIR: plainText.default('./data'),
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
  PASSWORD_EXTRA_CHECKS: textList.pipe(z.array(z.enum(['local-part', 'common']))).default([]),
  DEFAULT_CAPACITY_BYTES: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number of bytes')
    .transform(Number)
    .default(1_073_741_824),
  UNPROVED_ACCOUNT_DAYS: wholeNumber({ min: 0, max: 9_999 }).default(30),
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
  NODE_ENV: plainText.optional(),
  DEBUG: z.string().optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info'),
});

/** Every variable that is not a secret, with its check and its default: docs/configuration.md#the-service. */
export const environmentSchema = variables.refine(
  // The system chooses a port for 0.
  ({ PORT, METRICS_PORT }) => PORT === 0 || METRICS_PORT !== PORT,
  { path: ['METRICS_PORT'], error: 'must be another port than PORT' },
);

/** Reads the configuration (docs/configuration.md#the-service). @throws ConfigProblem naming every problem at once */
export function readConfig(environment: Environment = process.env) {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const secret = (name: SecretName): string | undefined => readSecret(set, name);
  const problems: string[] = [];
  const atStart = (name: SecretName): string | undefined => {
    const [text, file] = [secret(name), set[`${name}_FILE`]];
    if (text !== undefined || file === undefined || mayBeEmpty.has(name)) return text;
    throw new ConfigProblem(`${name}_FILE names ${file}, which is empty; fill it, or unset ${name}_FILE`);
  };
  const secrets = new Map(secretNames.map((name) => [name, collect(problems, () => atStart(name))]));
  // These two are settings, and also secrets because they may contain passwords.
  const [EVENTSTOREDB_URL, MONGODB_URL] = [secrets.get('EVENTSTOREDB_URL'), secrets.get('MONGODB_URL')];
  const given = { ...set, EVENTSTOREDB_URL, MONGODB_URL };
  const parsed = environmentSchema.safeParse(given);
  problems.push(...schemaProblems(environmentSchema, given));
  const limits = collect(problems, () => readLimits(set['LIMITS_FILE'])) ?? {};
  const plans = collect(problems, () => readPlans(set['PLANS_FILE'])) ?? builtInPlans;
  const witnesses = collect(problems, () => readWitnesses(set['AUDIT_WITNESSES'])) ?? [];
  problems.push(...paymentProblems(set));
  const mail =
    collect(problems, () => readMailDestination({ ...given, SMTP_URL: secrets.get('SMTP_URL') })) ?? 'none';
  problems.push(...operatorMailProblems(set['OPERATOR_MAIL'], mail));
  const publicUrl = parsed.success ? publicUrlOf(parsed.data) : '';
  const passkeys = collect(problems, () => (parsed.success ? readPasskeys(publicUrl, parsed.data) : null));
  collect(problems, () => readWebhooks(secrets.get('WEBHOOK_URLS')));
  problems.push(...agentSecretProblems(secrets), ...keysFileProblems(given));
  if (!parsed.success || problems.length > 0) {
    throw new ConfigProblem(
      `the configuration has problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
  }
  const values = parsed.data;
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    /** Absolute path of the directory of the embedded stores, the key file and the control socket. */
    dataDirectory: resolve(values.DATA_DIR),
    eventStoreDbUrl: values.EVENTSTOREDB_URL,
    /** Whether the service may speak to an EventStoreDB on another machine without TLS. */
    eventStoreDbAllowInsecure: values.EVENTSTOREDB_ALLOW_INSECURE,
    mongoDbUrl: values.MONGODB_URL,
    /** Absolute path of the keys of processes that share a store; embedded stores have `keys.json` in their directory. */
    keysFile: values.KEYS_FILE,
    streamPrefix: values.STREAM_PREFIX,
    /** Origin under which clients reach the service, without a trailing slash. */
    publicUrl,
    /** The relying party of passkeys; null: browsers accept no passkey of this service. */
    passkeys: passkeys ?? null,
    metricsPort: values.METRICS_PORT,
    /** How the service probes nodes; undefined: it probes none. */
    nodeProber: values.NODE_PROBER,
    /** Whether the service writes mails: `SMTP_URL` is set. */
    mailConfigured: mail !== 'none',
    /** Whether the service writes mails to its log and sends none: `SMTP_URL` is `log:`, in a development start. */
    mailsToLog: mail === 'log',
    mailFrom: values.MAIL_FROM ?? defaultMailFrom(publicUrl),
    smtpTimes: {
      connectMs: values.SMTP_CONNECT_MS,
      greetingMs: values.SMTP_GREETING_MS,
      replyMs: values.SMTP_REPLY_MS,
    },
    mailWaits: { retryMs: values.MAIL_RETRY_MS, unknownMs: values.MAIL_UNKNOWN_MS },
    /** Who gets the daily mail about payments that wait; empty: it is not sent. */
    operatorMail: values.OPERATOR_MAIL,
    /** Addresses and CIDR ranges of proxies whose X-Forwarded-For the service trusts. */
    trustedProxies: values.TRUSTED_PROXIES,
    passwordExtraChecks: values.PASSWORD_EXTRA_CHECKS,
    defaultCapacityBytes: values.DEFAULT_CAPACITY_BYTES,
    /** After so many days the service erases accounts whose address is not proved; 0: it erases none. */
    unprovedAccountDays: values.UNPROVED_ACCOUNT_DAYS,
    limits,
    /** The address that opens a share: a URL with `{token}` in place of its token. */
    shareUrlTemplate: shareUrlTemplateOf(publicUrl, values),
    /** The origins of the pages that browsers open: of the service, of shares, and `ALLOWED_ORIGINS`. */
    browserOrigins: browserOriginsOf(publicUrl, values),
    /** The origins of pages that may read replies of the API; null for any, where `ALLOWED_ORIGINS` is empty. */
    corsOrigins: corsOriginsOf(publicUrl, values),
    plans,
    /** CIDR ranges that storage endpoints may lie in although they are not public. */
    storageAllowedCidrs: values.STORAGE_ALLOWED_CIDRS,
    /** Reads the payment variables, including secrets, again. */
    payments: () => readPayments(set).settings,
    /** CIDR ranges that the endpoints of outgoing events may lie in although they are not public. */
    webhookAllowedCidrs: values.WEBHOOK_ALLOWED_CIDRS,
    /** Reads the endpoints of outgoing events, with their secrets, again. */
    webhooks: () => readWebhooks(secret('WEBHOOK_URLS')),
    /** Connections of one client address that the service holds at once. */
    maxConnectionsPerClient: values.MAX_CONNECTIONS_PER_CLIENT,
    /** Requests that run or wait in the process. */
    maxRequests: values.MAX_REQUESTS,
    /** Seconds between the signal that ends the process and the end of its listener, while `/readyz` is 503. */
    drainSeconds: drainSecondsOf(values.DRAIN_SECONDS, given),
    /** The folder that keeps every signed checkpoint; absolute. */
    auditCheckpointDirectory: values.AUDIT_CHECKPOINT_DIR,
    /** The witnesses that cosign checkpoints. */
    auditWitnesses: witnesses,
    /** Whether `NODE_ENV` is `production`. */
    production: values.NODE_ENV === 'production',
    /** `DEBUG`, with which some libraries print the data that they send. */
    debug: values.DEBUG,
    logLevel: values.LOG_LEVEL,
    /** Reads a secret again, also from a file; undefined if blank. @throws ConfigProblem if the file cannot be read */
    secret,
    /** Whether a secret is in a file, so that it can change while the process runs. */
    isInFile: (name: SecretName) => set[`${name}_FILE`] !== undefined,
    /** Variables that the service does not know, each with the known one whose name it nearly has. */
    misspelt: findMisspelt(
      Object.keys(set),
      [...Object.keys(environmentSchema.shape), ...paymentVariableNames],
      secretNames,
    ),
    /** Whether one machine is the whole service, and no other machine reaches it. */
    development: changesForDevelopment(given).length === 0,
    /** The variables that name files with secrets which every user of the machine may read. */
    exposedSecretFiles: [...secretNames.map((name) => `${name}_FILE`), 'KEYS_FILE'].filter((variable) =>
      isReadableByAll(set[variable]),
    ),
  });
}

/** The form of the addresses is a check of `environmentSchema`. */
function operatorMailProblems(addresses: string | undefined, mail: MailDestination): readonly string[] {
  return addresses === undefined || mail !== 'none'
    ? []
    : ['OPERATOR_MAIL needs a mail server; set SMTP_URL too'];
}
