import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { packageFile } from '../../package-files.js';
import type { PreparedBody } from '../replies/reply.js';

/** A folder of files that `scripts/pack-files.mjs` has compressed. */
export interface PackedFolder {
  /** Whether the build has made the folder. */
  readonly exists: boolean;
  /** Returns the manifest. @throws Error when the build lacks it */
  readonly manifest: () => unknown;
  /** Returns a file, which is read at the first request for it. @throws Error when the build lacks it */
  readonly body: (name: string) => Pick<PreparedBody, 'bytes' | 'encoded'>;
}

/** Opens a folder in `dist`. */
export function openPackedFolder(name: 'docs-reader' | 'guides'): PackedFolder {
  const folder = packageFile(`dist/${name}/`);
  return {
    exists: existsSync(new URL('manifest.json', folder)),
    manifest: () => JSON.parse(read('manifest.json').toString()) as unknown,
    body: (file) => {
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
