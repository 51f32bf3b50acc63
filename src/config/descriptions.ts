import type { environmentSchema, SecretName } from './config.js';
import type { PaymentVariableName } from '../areas/payments/platforms/setting-reads.js';

/** Every environment variable that the service reads. */
type VariableName = keyof typeof environmentSchema.shape | SecretName | PaymentVariableName;

export interface VariableDescription {
  readonly meaning: string;
  /** The default, where the schema cannot tell it: Markdown. */
  readonly default?: string;
}

const inKeysJson = 'made in `DATA_DIR/keys.json`';
const keyList = 'a list of `kid:base64url` of 32 bytes each; the first key is the active one';

/** The service itself, in the order of docs/configuration.md#the-service. A variable that has no entry does not compile. */
export const serviceVariables: Readonly<
  Record<Exclude<VariableName, PaymentVariableName>, VariableDescription>
> = {
  HOST: { meaning: 'the address that the service listens on' },
  PORT: { meaning: 'the port that the service listens on' },
  PUBLIC_URL: {
    default: '`http://HOST:PORT`',
    meaning: 'the origin that clients use, and the issuer of access tokens; the same in all processes',
  },
  PASSKEY_RP_ID: {
    default: 'the host of `PUBLIC_URL`',
    meaning: 'the domain that passkeys are bound to; a later change makes all passkeys useless',
  },
  PASSKEY_ORIGINS: {
    default: '`PUBLIC_URL`',
    meaning: 'the origins of the pages and apps that may use passkeys, of `PASSKEY_RP_ID` or below it',
  },
  DATA_DIR: {
    meaning: 'the directory of the embedded stores, `keys.json` and the control socket; one process owns it',
  },
  EVENTSTOREDB_URL: {
    meaning: 'KurrentDB (`kurrentdb://…`) or EventStoreDB (`esdb://…`) in place of the embedded log',
  },
  EVENTSTOREDB_ALLOW_INSECURE: {
    meaning: 'whether `tls=false` may reach another machine; only for a network that you trust',
  },
  MONGODB_URL: { meaning: 'MongoDB in place of the embedded read models and state' },
  KEYS_FILE: {
    default: 'none',
    meaning:
      'a file with every key that no variable below sets, for EventStoreDB or MongoDB; `stowage keys init` makes it; see [keys](keys.md#several-processes)',
  },
  STREAM_PREFIX: { meaning: 'the beginning of the name of each stream that the service writes' },
  NODE_AGENT_SECRET: {
    meaning: 'the secret that agents send, at least 16 characters; without it the peer list answers 503',
  },
  NODE_AGENT_SECRET_PREVIOUS: { meaning: 'the secret before, which the service also accepts' },
  NODE_PROBER: {
    default: 'none',
    meaning:
      'how the service probes each node every 10 s: `tcp:<port>`, `http:<port>/<path>` or `https:<port>/<path>`; see ' +
      '[edge agents](agents.md#the-prober)',
  },
  TRUSTED_PROXIES: {
    meaning: 'addresses and CIDR ranges of proxies; the service believes `X-Forwarded-For` only from them',
  },
  MAX_CONNECTIONS_PER_CLIENT: {
    meaning: 'the connections that one client address may hold; see [limits](limits.md#connections)',
  },
  MAX_REQUESTS: {
    meaning:
      'the requests that run or wait in a process, 20 to 10000; one user, project or client runs a tenth of them; see ' +
      '[limits](limits.md#requests-at-once)',
  },
  DRAIN_SECONDS: {
    default: '5; 0 in a development start',
    meaning:
      'how long `/readyz` answers 503 while the service still serves, after SIGTERM; see [stop](operate.md#stop)',
  },
  METRICS_PORT: {
    meaning:
      'the port of a second listener, for Prometheus (`/metrics`) and operators (`/readyz` with details)',
  },
  SMTP_URL: {
    meaning:
      'the server for outgoing mail, `smtp://user:password@host:587` or `smtps://…`; `log:` writes mails to the log of a ' +
      'development start; without it the service mails nothing',
  },
  MAIL_FROM: { default: '`Stowage <no-reply@host of PUBLIC_URL>`', meaning: 'the sender of mails' },
  SMTP_CONNECT_MS: { meaning: 'how long the mail server may take to open a connection, in milliseconds' },
  SMTP_GREETING_MS: {
    meaning:
      'how long it may take from there to its greeting, and as long again for STARTTLS (RFC 5321, section 4.5.3.2)',
  },
  SMTP_REPLY_MS: {
    meaning:
      'how long it may take for each later reply; the one after the content decides whether it has the mail',
  },
  MAIL_RETRY_MS: {
    meaning:
      'how long a mail that was not sent waits for the next attempt; the wait doubles, up to 60 times this value',
  },
  MAIL_UNKNOWN_MS: {
    default: '`60000,600000,3600000`',
    meaning:
      'how long a mail waits that the server got and did not answer, after the first, second and third copy; see ' +
      '[mail](operate.md#mail)',
  },
  OPERATOR_MAIL: {
    meaning:
      'one to ten addresses, separated by commas, that get a mail a day while payments are in review; needs ' +
      '`SMTP_URL`; see [resolving](payments/resolving.md#a-mail-a-day)',
  },
  DEFAULT_CAPACITY_BYTES: { meaning: 'the capacity that a registration grants' },
  UNPROVED_ACCOUNT_DAYS: {
    meaning:
      'days after the mail with a code and after the last session, after which the service erases an account that has not proved its ' +
      'address, with its projects; a mail warns seven days before; 0 keeps all; without mail the service erases none',
  },
  SHARE_URL_TEMPLATE: {
    default: '`PUBLIC_URL/s/{token}`',
    meaning: 'the URL at which people open a share; it names `{token}` once',
  },
  ALLOWED_ORIGINS: {
    meaning:
      'origins of the pages, beside `PUBLIC_URL`, that call the API, upload files to buckets and fetch media from them, at most 10; ' +
      'empty: the API answers every origin, and buckets answer `PUBLIC_URL`; see [browsers](storages.md#browsers)',
  },
  STORAGE_ALLOWED_CIDRS: {
    meaning: 'private ranges that storage endpoints may lie in; `http://` endpoints work only there',
  },
  WEBHOOK_URLS: {
    default: 'none',
    meaning:
      'the endpoints that get outgoing events, one a line: URL, secrets, types; see [webhooks](webhooks.md#settings)',
  },
  WEBHOOK_ALLOWED_CIDRS: {
    meaning:
      'private ranges that endpoints of outgoing events may lie in; `http://` endpoints work only there',
  },
  PASSWORD_EXTRA_CHECKS: {
    meaning:
      'checks of new passwords beside length and character classes: `local-part`, `common`; recommended in production, see [accounts](accounts.md#passwords)',
  },
  LIMITS_FILE: {
    meaning: 'a JSON file that changes limits; see [limits](limits.md#limits)',
  },
  PLANS_FILE: { default: 'two built-in plans', meaning: 'a JSON file of plans; see [below](#plans)' },
  LOG_LEVEL: { meaning: '`fatal`, `error`, `warn`, `info`, `debug` or `silent`' },
  NODE_ENV: {
    meaning:
      '`production` refuses `SMTP_URL=log:`, and a `DEBUG` that makes the EventStoreDB client print passwords',
  },
  DEBUG: { meaning: 'what some libraries print to standard error; leave it unset in production' },
  JWT_KEYS: { default: inKeysJson, meaning: `keys that sign access tokens: ${keyList}` },
  MASTER_KEYS: { default: inKeysJson, meaning: 'keys that wrap data keys; the same format' },
  REFRESH_KEYS: { default: inKeysJson, meaning: 'keys that make refresh tokens; the same format' },
  CODE_KEYS: { default: inKeysJson, meaning: 'keys that make mailed codes; the same format' },
  PEPPERS: { default: inKeysJson, meaning: 'peppers of password hashes; the same format' },
  AUDIT_CHECKPOINT_DIR: {
    default: '`DATA_DIR/checkpoints`',
    meaning:
      'a folder that keeps every signed checkpoint of the [audit log](audit.md), best on a medium that the service cannot ' +
      'rewrite; the default keeps the newest ten',
  },
  AUDIT_WITNESSES: {
    default: 'none',
    meaning:
      'a file with one line `<vkey> <url>` for each witness that cosigns checkpoints (C2SP tlog-witness); after a start, ' +
      'nothing is signed until each has answered',
  },
  AUDIT_SIGNING_KEYS: { default: inKeysJson, meaning: 'keys that sign checkpoints; the same format' },
  INDEX_KEY: {
    default: inKeysJson,
    meaning: 'the key of digests that the service looks values up by: 32 bytes as base64url; never rotated',
  },
};
