import { z } from 'zod';
import { weakTag } from '../../replies/etag.js';
import type { PreparedBody } from '../../replies/reply.js';
import { onceEach, openPackedFolder } from '../packed-files.js';

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

/** Opens the files of the reader. It reads each file once, at the first request for it. @throws Error when the build lacks them */
export function openReaderFiles(): ReaderFiles {
  const folder = openPackedFolder('docs-reader');
  const { build, entry, first, files } = manifestSchema.parse(folder.manifest());
  const known = new Set(files);
  const prepare = onceEach((name) => ({ ...folder.body(name), tag: weakTag(`${build} ${name}`) }));
  return { ...{ build, entry, first }, find: (name) => (known.has(name) ? prepare(name) : null) };
}
