import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { packageFile } from '../../package-files.js';
import { contentTag } from '../replies/etag.js';
import type { PreparedBody } from '../replies/reply.js';

/**
 * Prepares a page of one script and one style sheet, which its policy names by digest. By default it calls its own origin only.
 * @param sources further directives, for example `img-src https:`
 */
export function preparePage({
  html,
  script,
  style,
  sources,
  connect = "'self'",
  language,
}: {
  /** It contains the script and the style sheet. */
  readonly html: string;
  readonly script: string;
  readonly style: string;
  readonly sources: readonly string[];
  /** The sources that the script may read; its own origin when left out. */
  readonly connect?: string;
  /** See `PreparedBody`. */
  readonly language?: string;
}): PreparedBody {
  return {
    bytes: Buffer.from(html),
    tag: contentTag(html),
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src '${digestOf(script)}'`,
      `style-src '${digestOf(style)}'`,
      ...sources,
      `connect-src ${connect}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    isIndexed: false,
    ...(language === undefined ? {} : { language }),
  };
}

/**
 * Returns the script of a page, which the build has made of `browser/<page>/` as one text. So one digest in the policy names all code
 * that may run, and a page never mixes modules of two versions. @throws Error when the build lacks it
 */
export function readPageScript(page: 'audit' | 'share'): string {
  const path = page === 'audit' ? 'dist/pages/audit.js' : 'dist/pages/share.js';
  return readFileSync(packageFile(path), 'utf8');
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
