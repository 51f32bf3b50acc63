import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { makeDirectory } from './embedded-directory.js';
import type { S3Server } from './s3-server.js';
import { freePort } from './service-process.js';

/** An S3 server of another project that a test starts on this machine. */
export interface BucketProgram {
  readonly name: string;
  /** The environment variable with the program's path; by default it is looked up in PATH. */
  readonly variable: string;
  /** Whether it refuses wrong signatures. */
  readonly judgesSignatures: boolean;
  /** Whether it takes type and name of a reply from the URL. */
  readonly takesOverrides: boolean;
  readonly hasCorsRules: boolean;
  readonly argumentsOf: (port: number, directory: string) => readonly string[];
}

const [region, accessKey, secretKey] = ['us-east-1', 'a-test-access-key', 'a-test-secret-key'];

export const bucketPrograms: readonly BucketProgram[] = [
  {
    name: 'versitygw',
    variable: 'VERSITYGW',
    judgesSignatures: true,
    takesOverrides: false,
    hasCorsRules: false,
    // Folders keep the metadata beside the files: many file systems of containers have no attributes.
    argumentsOf: (port, directory) => {
      const [buckets, metadata] = [join(directory, 'buckets'), join(directory, 'metadata')];
      for (const folder of [buckets, metadata]) mkdirSync(folder);
      const keys = ['--access', accessKey, '--secret', secretKey, '--region', region];
      return [...keys, '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', metadata, buckets];
    },
  },
  {
    name: 'moto_server',
    variable: 'MOTO_SERVER',
    judgesSignatures: false,
    takesOverrides: true,
    hasCorsRules: true,
    argumentsOf: (port) => ['-H', '127.0.0.1', '-p', String(port)],
  },
];

/** Returns how to start the program; null where the machine lacks it. */
export function findProgram({ name, variable }: BucketProgram): string | null {
  const given = process.env[variable] ?? name;
  return spawnSync('sh', ['-c', 'command -v "$0"', given], { stdio: 'ignore' }).status === 0 ? given : null;
}

/**
 * Tells whether a program that should take the name of a file from the URL ignores it, as moto 5.2.1 does. That version also
 * answers the end of an upload in parts as no S3 server does.
 */
export async function ignoresOverrides(program: BucketProgram, command: string): Promise<boolean> {
  if (!program.takesOverrides || program.judgesSignatures) return false;
  const ends: (() => unknown)[] = [];
  const { endpoint } = await startBucketProgram({ teardown: (end) => ends.push(end) }, program, command);
  const headers = {
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/20260102/${region}/s3/aws4_request`,
  };
  try {
    await fetch(`${endpoint}/bucket/`, { method: 'PUT', headers });
    const object = `${endpoint}/bucket/key?response-content-disposition=attachment`;
    await fetch(object.split('?')[0] ?? '', { method: 'PUT', headers, body: Buffer.from('x') });
    return (await fetch(object, { headers })).headers.get('content-disposition') !== 'attachment';
  } finally {
    for (const end of ends) end();
  }
}

/** Starts the server for one test. Its buckets end with it. */
export async function startBucketProgram(
  t: { readonly teardown: (end: () => void) => unknown },
  program: BucketProgram,
  command: string,
): Promise<S3Server> {
  const { directory, remove } = makeDirectory();
  const port = await freePort();
  const child = spawn(command, program.argumentsOf(port, directory), { stdio: 'ignore' });
  t.teardown(() => {
    child.kill('SIGKILL');
    remove();
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually(`${program.name} answers`, async () =>
    fetch(endpoint).then(
      () => true,
      () => false,
    ),
  );
  return { endpoint, region, accessKey, secretKey, allowedCidrs: '127.0.0.0/8', isTransient: true };
}
