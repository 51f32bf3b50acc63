import { lstat, opendir, readFile, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Malformed, Unusable } from './basics.js';

/** Where an export is. Paths are those of C2SP tlog-tiles, and `events/<N>`. */
export interface VerifierSource {
  /** @returns null where there is no such file. @throws Malformed over `limit` bytes, or where it is no plain file. */
  readonly read: (path: string, limit: number) => Promise<Buffer | null>;
  /** The paths of all files, where the source can list them. */
  readonly list?: () => AsyncIterable<string>;
}

/** @throws Unusable where the folder is not there */
export async function folderSource(folder: string): Promise<VerifierSource> {
  const root = await realpath(folder);
  const read: VerifierSource['read'] = async (path, limit) => {
    const file = join(root, path);
    try {
      const info = await lstat(file);
      // A link could lead out of the export, or to a device that never ends.
      if (!info.isFile() || (await realpath(file)) !== file) throw new Malformed('it is no plain file');
      if (info.size > limit) throw new Malformed(`it has ${info.size} bytes, more than ${limit}`);
      return await readFile(file);
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
      throw error;
    }
  };
  const list = async function* () {
    for await (const entry of await opendir(root, { recursive: true })) {
      if (!entry.isDirectory()) yield relative(root, join(entry.parentPath, entry.name));
    }
  };
  return { read, list };
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** @throws Unusable for a token that is malformed, or that would pass a network in clear */
export function webSource(url: string, token: string | null): VerifierSource {
  const { protocol, hostname } = new URL(url);
  if (token !== null && protocol !== 'https:' && !loopback.test(hostname))
    throw new Unusable('a token needs https');
  // The error of a malformed header would quote the token.
  if (token !== null && !/^[!-~]+$/.test(token))
    throw new Unusable('the token has a space or another wrong character');
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const read: VerifierSource['read'] = async (path, limit) => {
    for (let attempts = 1; ; attempts += 1) {
      const reply = await fetch(`${url.replace(/\/+$/, '')}/${path}`, {
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(30_000),
      });
      if (reply.ok) return await readBody(reply, limit);
      await reply.body?.cancel();
      if (reply.status === 404) return null;
      if (![429, 503].includes(reply.status) || attempts === 5)
        throw new Unusable(`the service answers ${path} with ${reply.status}`);
      const seconds = Number(reply.headers.get('retry-after'));
      await setTimeout(1000 * Math.min(30, seconds > 0 ? seconds : attempts));
    }
  };
  return { read };
}

async function readBody({ body }: Response, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > limit) throw new Malformed(`it has more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
