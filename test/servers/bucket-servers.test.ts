/*
 * The whole story of a storage on S3 servers of other projects, which the test starts: versitygw on a folder, and moto's server,
 * which judges no signatures. `go install github.com/versity/versitygw/cmd/versitygw@v1.0.14` and `pip install 'moto[server]'`
 * bring them; VERSITYGW and MOTO_SERVER name them outside PATH.
 */
import test from 'ava';
import { makeAllowedAddress } from '../../src/outgoing/addresses.js';
import { makeOutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import { tellImportStory } from '../support/given/import-story.js';
import { tellObjectsStory } from '../support/given/objects-story.js';
import { tellPartsStory } from '../support/given/parts-story.js';
import { givenStorageProject } from '../support/given/storage-project.js';
import { tellStorageStory } from '../support/given/storage-story.js';
import {
  type BucketProgram,
  bucketPrograms,
  findProgram,
  ignoresOverrides,
  startBucketProgram,
} from '../support/servers/bucket-programs.js';
import { makeBucket } from '../support/servers/s3-server.js';

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
