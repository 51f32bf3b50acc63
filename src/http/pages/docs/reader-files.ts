import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { packageFile } from '../../../package-files.js';
import { weakTag } from '../../replies/etag.js';
import type { PreparedBody } from '../../replies/reply.js';

const manifestSchema = z.strictObject({
  version: z.string(),
  /** A digest of all files. Their addresses contain it, so a file never changes under its address. */
  build: z.string().regex(/^[0-9a-f]{16}$/),
  entry: z.string(),
  /** The modules that the entry imports when it loads. */
  first: z.array(z.string()),
  files: z.array(z.string()),
});

/** The files of the reader, which `scripts/build-docs-reader.mjs` copies from its package. */
export interface ReaderFiles {
  readonly build: string;
  readonly entry: string;
  readonly first: readonly string[];
  /** Returns a file by its name, such as `chunks/x.js`; null for a name that the reader does not have. */
  find(name: string): PreparedBody | null;
}

const folder = packageFile('dist/docs-reader/');

/** Opens the files of the reader. It reads each file once, at the first request for it. @throws Error when the build lacks them */
export function openReaderFiles(): ReaderFiles {
  const { build, entry, first, files } = manifestSchema.parse(JSON.parse(read('manifest.json').toString()));
  const known = new Set(files);
  const opened = new Map<string, PreparedBody>();
  return {
    ...{ build, entry, first },
    find: (name) => {
      if (!known.has(name)) return null;
      const found = opened.get(name) ?? prepare(name, build);
      opened.set(name, found);
      return found;
    },
  };
}

function prepare(name: string, build: string): PreparedBody {
  const encoded = { br: read(`${name}.br`), gzip: read(`${name}.gz`) };
  return {
    // Few clients take neither encoding. A reply without content, such as a 304, opens nothing.
    bytes: () => gunzipSync(encoded.gzip),
    encoded: () => encoded,
    tag: weakTag(`${build} ${name}`),
  };
}

function read(name: string): Buffer {
  try {
    return readFileSync(new URL(name, folder));
  } catch (error) {
    throw new Error(`the build lacks dist/docs-reader/${name}: run npm run build`, { cause: error });
  }
}
