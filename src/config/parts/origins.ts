import { isIP } from 'node:net';
import type { Mailbox } from '../../mail/mailbox.js';

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
  return (PUBLIC_URL ?? `http://${isIP(HOST) === 6 ? `[${HOST}]` : HOST}:${PORT}`).replace(/\/$/, '');
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
