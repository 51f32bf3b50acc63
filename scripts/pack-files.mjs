// Copies files that the service serves as they are, compressed: browsers load them, and no other program.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Writes `<name>.br` and `<name>.gz` of each file. @returns a digest of all of them */
export function packFiles(source, names, target) {
  const digest = createHash('sha256');
  for (const name of names) {
    const bytes = readFileSync(join(source, name));
    digest.update(`${name}\n`).update(bytes);
    mkdirSync(dirname(join(target, name)), { recursive: true });
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(target, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(target, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  return digest.digest('hex').slice(0, 16);
}

/** Returns a digest of text in base64, as a policy of a page names it. */
export function policyDigest(text) {
  return `sha256-${createHash('sha256').update(Buffer.from(text)).digest('base64')}`;
}
