import { createHash } from 'node:crypto';
import { type WebhookType, webhookTypes } from './messages/message-types.js';

/** A receiver of messages: a line of `WEBHOOK_URLS`. It holds secrets, so no log and no reply shows it whole. */
export interface WebhookEndpoint {
  /** The first 12 hexadecimal digits of the SHA-256 of the URL. Another secret or other types keep the id. */
  readonly id: string;
  readonly url: string;
  /** The keys that sign, the newest first. Each message carries a signature of each. */
  readonly keys: readonly Buffer[];
  readonly types: ReadonlySet<WebhookType>;
}

/** The text of `WEBHOOK_URLS` has another form. The message names the line, and no value of it. */
export class WebhookUrlsProblem extends Error {
  override readonly name = 'WebhookUrlsProblem';
}

/** Endpoints that a process serves at most, so that its outstanding deliveries are bounded. */
const endpointsMax = 20;
const keysMax = 3;
const urlLengthMax = 2_048;

/**
 * Parses endpoints, one a line: `<URL> <secret>[,<secret>…] <type>[,<type>…]`. Types may end in `*`. Empty lines and
 * lines that begin with `#` count for nothing.
 * @throws WebhookUrlsProblem
 */
export function parseEndpoints(text: string): readonly WebhookEndpoint[] {
  const endpoints = text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, number }) => parseEndpoint(line, number));
  if (endpoints.length > endpointsMax)
    throw new WebhookUrlsProblem(
      `it names ${endpoints.length} endpoints; at most ${endpointsMax} are possible`,
    );
  const ids = endpoints.map(({ id }) => id);
  const double = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (double >= 0)
    throw new WebhookUrlsProblem(`endpoint ${double + 1} has the URL of an earlier one; list it once`);
  return endpoints;
}

function parseEndpoint(line: string, number: number): WebhookEndpoint {
  const problem = (what: string): WebhookUrlsProblem => new WebhookUrlsProblem(`line ${number} ${what}`);
  const [address = '', secrets = '', patterns = '', ...more] = line.split(/\s+/);
  if (patterns === '' || more.length > 0)
    throw problem('must be a URL, a secret and a list of types, separated by spaces');
  const url = parseUrl(address);
  if (url === null) throw problem('must begin with an http or https URL without user, password and fragment');
  const keys = secrets.split(',').map(parseSecret);
  const known = keys.filter((key) => key !== null);
  if (known.length < keys.length || keys.length > keysMax)
    throw problem(
      `needs 1 to ${keysMax} secrets, each whsec_ and 24 to 64 bytes in base64, separated by commas`,
    );
  const types = new Set<WebhookType>();
  for (const pattern of patterns.split(',')) {
    const found = webhookTypes.filter((type) => matches(pattern, type));
    if (found.length === 0)
      throw problem('names a type that does not exist; docs/webhooks.md lists them, for example order.*');
    for (const type of found) types.add(type);
  }
  return { id: endpointId(url), url, keys: known, types };
}

function matches(pattern: string, type: WebhookType): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

function parseUrl(text: string): string | null {
  if (text.length > urlLengthMax || !URL.canParse(text)) return null;
  const { protocol, username, password, hash, href } = new URL(text);
  if (!/^https?:$/.test(protocol)) return null;
  return username === '' && password === '' && hash === '' ? href : null;
}

/** Parses a secret of Standard Webhooks; null for another form. */
function parseSecret(secret: string): Buffer | null {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return null;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return key.length >= 24 && key.length <= 64 ? key : null;
}

function endpointId(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 12);
}
