import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { packageFile } from '../../package-files.js';
import { type PreparedBody, contentTag } from '../replies/reply.js';
import { gunzipSync } from 'node:zlib';

/** Opens a folder in `dist`, whose files `scripts/pack-files.mjs` has compressed. */
export function openPackedFolder(name: 'docs-reader' | 'guides') {
  const folder = packageFile(`dist/${name}/`);
  return {
    /** Whether the build has made the folder. */
    exists: existsSync(new URL('manifest.json', folder)),
    /** Returns the manifest. @throws Error when the build lacks it */
    manifest: (): unknown => JSON.parse(read('manifest.json').toString()) as unknown,
    /** Returns a file, which is read at the first request for it. @throws Error when the build lacks it */
    body: (file: string): Pick<PreparedBody, 'bytes' | 'encoded'> => {
      const encoded = { br: read(`${file}.br`), gzip: read(`${file}.gz`) };
      // Few clients take neither encoding. A reply without content, such as a 304, opens nothing.
      return { bytes: () => gunzipSync(encoded.gzip), encoded: () => encoded };
    },
  };

  function read(file: string): Buffer {
    try {
      return readFileSync(new URL(file, folder));
    } catch (error) {
      throw new Error(`the build lacks dist/${name}/${file}: run npm run build`, { cause: error });
    }
  }
}

/** Keeps what was made for a name. */
export function onceEach<Made>(make: (name: string) => Made): (name: string) => Made {
  const all = new Map<string, Made>();
  return (name) => {
    const made = all.get(name) ?? make(name);
    all.set(name, made);
    return made;
  };
}

/**
 * Prepares a page of one script and one style sheet, which its policy names by digest. By default it calls its own origin only.
 * @param sources further directives, for example `img-src https:`
 */
export function preparePage(page: {
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
  const { html, script, style, sources, connect = "'self'", language } = page;
  return {
    bytes: Buffer.from(html),
    tag: contentTag(html),
    contentSecurityPolicy: policyOf([
      `script-src '${digestOf(script)}'`,
      `style-src '${digestOf(style)}'`,
      ...sources,
      `connect-src ${connect}`,
      "require-trusted-types-for 'script'",
    ]),
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

/** Returns the policy of a page that loads nothing but what the directives name, and that no other page frames. */
export function policyOf(directives: readonly string[]): string {
  const nowhere = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
  return ["default-src 'none'", ...directives, ...nowhere].join('; ');
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
