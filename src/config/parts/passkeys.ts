import { isIP } from 'node:net';
import type { PasskeySettings } from '../../security/tokens/webauthn.js';
import { ConfigProblem } from '../sources.js';

interface Given {
  readonly publicUrl: string;
  readonly rpId: string | undefined;
  readonly origins: readonly string[] | undefined;
}

/**
 * Returns the relying party of passkeys; null where `PUBLIC_URL` names none and no other setting does: browsers take
 * only a domain over https, or localhost. @throws ConfigProblem for settings that no browser accepts
 */
export function readPasskeys({ publicUrl, rpId, origins }: Given): PasskeySettings | null {
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
