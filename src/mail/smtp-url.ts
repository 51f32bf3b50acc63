import { decodeUri } from '../validation/text.js';

/** The server that takes outgoing mail, from `SMTP_URL`. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`); otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  /** Requires TLS. It is set if credentials would cross a network unencrypted. */
  readonly requireTls: boolean;
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

/** RFC 6409 (submission) and RFC 8314 (submissions). */
const defaultPorts = { 'smtp:': 587, 'smtps:': 465 } as const;
const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?)$/;
const loopbackHosts = new Set(['localhost', '127.0.0.1', '::1']);

/** Parses `smtp://[user:password@]host[:port]` or `smtps://…`. @returns null for any other text; no error quotes it */
export function parseSmtpUrl(text: string): SmtpServer | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isBare(url)) return null;
  const { protocol } = url;
  if (protocol !== 'smtp:' && protocol !== 'smtps:') return null;
  const credentials = credentialsOf(url);
  if (credentials === undefined) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  return {
    host,
    port: url.port === '' ? defaultPorts[protocol] : Number(url.port),
    secure,
    requireTls: !secure && credentials !== null && !isLoopbackHost(host),
    credentials,
  };
}

/** Whether a host, in the spelling of a URL without brackets, is this machine. */
export function isLoopbackHost(host: string): boolean {
  return loopbackHosts.has(host.toLowerCase());
}

function isBare({ hostname, pathname, search, hash }: URL): boolean {
  return hostPattern.test(hostname) && /^\/?$/.test(pathname) && search === '' && hash === '';
}

/** Returns undefined if one of user and password is missing or malformed; null if both are missing. */
function credentialsOf(url: URL): SmtpServer['credentials'] | undefined {
  const user = decodeUri(url.username);
  const password = decodeUri(url.password);
  if (user === '' && password === '') return null;
  return user === null || password === null || user === '' || password === ''
    ? undefined
    : { user, password };
}
