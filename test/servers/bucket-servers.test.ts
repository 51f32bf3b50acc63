/*
 * The whole story of a storage on S3 servers of other projects, which the test starts: versitygw on a folder, and moto's server,
 * which judges no signatures. `go install github.com/versity/versitygw/cmd/versitygw@v1.0.14` and `pip install 'moto[server]'`
 * bring them; VERSITYGW and MOTO_SERVER name them outside PATH.
 */
import test from 'ava';
import { makeAllowedAddress } from '../../src/outgoing/addresses.js';
import { makeOutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import { tellImportStory, tellStorageStory } from '../support/given/storage-story.js';
import { tellObjectsStory, tellPartsStory } from '../support/given/objects-story.js';
import { givenStorageProject } from '../support/given/storage-project.js';
import { makeBucket, type S3Server } from '../support/servers/s3-server.js';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { makeDirectory } from '../support/servers/embedded-directory.js';
import { freePort } from '../support/servers/service-process.js';

/** An S3 server of another project that a test starts on this machine. */
interface BucketProgram {
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

const bucketPrograms: readonly BucketProgram[] = [
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
function findProgram({ name, variable }: BucketProgram): string | null {
  const given = process.env[variable] ?? name;
  return spawnSync('sh', ['-c', 'command -v "$0"', given], { stdio: 'ignore' }).status === 0 ? given : null;
}

/**
 * Tells whether a program that should take the name of a file from the URL ignores it, as moto 5.2.1 does. That version also
 * answers the end of an upload in parts as no S3 server does.
 */
async function ignoresOverrides(program: BucketProgram, command: string): Promise<boolean> {
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
async function startBucketProgram(
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

const browser = makeOutgoingHttp({ isAllowed: makeAllowedAddress(['127.0.0.0/8']), timeMs: 60_000 });

// AVA takes no further test once one was declared and an await follows, so all awaits come first.
const found = await Promise.all(
  bucketPrograms.map(async (program) => {
    const command = findProgram(program);
    return { program, command, isOld: command !== null && (await ignoresOverrides(program, command)) };
  }),
);
for (const { program, command, isOld } of found) {
  if (command !== null && !isOld) {
    suite(program, command);
    continue;
  }
  const why = isOld ? 'needs a newer version' : 'runs where the program is in PATH';
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip(`The story of a storage on ${program.name} ${why}`, () => undefined);
}

function suite(program: BucketProgram, command: string): void {
  const { name, judgesSignatures, takesOverrides, hasCorsRules } = program;
  const warnings = [...(takesOverrides ? [] : ['content_disposition_ignored']), 'cors_missing'];
  test.serial(
    `The story of a storage on ${name}: bind, test, upload, share, play, parts and import`,
    async (t) => {
      t.timeout(1_800_000);
      const server = await startBucketProgram(t, program, command);
      const { endpoint, region, accessKey, secretKey } = server;
      const bucket = await makeBucket(t, server);
      const project = await givenStorageProject(t);
      const credentials = { access_key: accessKey, secret_key: secretKey };
      const binding = { bucket: bucket.name, region, endpoint, base_path: 'videos', credentials };
      const begin = `${endpoint}/${bucket.name}/`;
      await tellStorageStory(t, {
        project,
        binding,
        begin,
        browser,
        judgesSignatures,
        hasCorsRules,
        warnings,
      });
      await tellObjectsStory(t, { project, browser, judgesSignatures, takesOverrides });
      await tellPartsStory(t, { project, browser, outgoing: {} });
      const count = importedKeys(program);
      await tellImportStory(t, { project, count, put: (key, body) => bucket.put(`videos/${key}`, body) });
    },
  );
}

/** The server of moto sorts all keys for each page, so it imports all of them only where all rows run. */
function importedKeys({ judgesSignatures }: BucketProgram): number {
  return judgesSignatures || process.env['DEEP_BUDGET'] !== undefined ? 5_000 : 500;
}
