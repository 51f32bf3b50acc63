import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { entryOf } from '../../src/areas/audit/tree/canonical-json.js';
import { leafHash, rootOf } from '../../src/areas/audit/tree/merkle.js';
import { parseCheckpointText, parseNote } from '../../src/areas/audit/tree/note.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { registerAuditor, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually as eventuallyAt } from '../support/eventually.js';
import { freePort, runCli, givenDirectory, givenService } from '../support/servers/service-process.js';
import { rootFromInclusion } from '../support/audit/inclusion.js';

const password = 'Correct-Horse-7';

/** Asks rarely, because the requests of a session are limited. */
const eventually = (what: string, holds: () => boolean | Promise<boolean>): Promise<true> =>
  eventuallyAt(what, holds, { pollMs: 250, at: eventually });

/** Starts a service process whose log is signed, with an auditor. */
async function givenAuditedService(t: ExecutionContext, environment: Readonly<Record<string, string>> = {}) {
  const data = givenDirectory(t);
  const port = await freePort();
  const start = () => givenService(t, { directory: data, port, environment });
  const service = await start();
  const client = makeServiceClient(service.url);
  const { headers: auditor } = await registerAuditor(client, data);
  const cli = (...args: string[]) => runCli(data, args, environment);
  const status = async (): Promise<JsonObject> => {
    const reply = await client.get('/audit/status', auditor);
    t.is(reply.status, 200, reply.text);
    return reply.json();
  };
  const signed = async (more = 0): Promise<number> => {
    await eventually('everything is signed', async () => {
      const { size, signed_size: signedSize } = await status();
      return Number(size) > more && size === signedSize;
    });
    return Number((await status())['signed_size']);
  };
  return { start, service, client, auditor, cli, status, signed, directory: data };
}

test('An auditor reads events, entries, tiles and proofs that lead to the signed root', async (t) => {
  const { client, auditor, signed } = await givenAuditedService(t);
  const size = await signed();
  const text = async (path: string): Promise<string> => {
    const reply = await client.get(path, auditor);
    t.is(reply.status, 200, reply.text);
    return reply.text;
  };
  // The checkpoint may grow between two reads, so the proof says which one it leads to.
  const lines = (await text(`/audit/log/events/000.p/${size}`)).trimEnd().split('\n');
  t.is(lines.length, size);
  const events = lines.map((line) => JSON.parse(line) as JsonObject & { readonly data: JsonObject });
  const leaves = events.map((event) =>
    leafHash(
      entryOf({
        ...{ id: textOf(event, 'id'), stream: textOf(event, 'stream'), type: textOf(event, 'type') },
        ...{ data: event.data, metadata: event['metadata'] as JsonObject },
        revision: BigInt(Number(event['revision'])),
        recordedAt: new Date(textOf(event, 'recorded_at')),
      }),
    ),
  );
  const proof = await text(`/audit/proof?index=${size - 1}`);
  const [, indexLine, ...hashes] = proof.slice(0, proof.indexOf('\n\n')).split('\n');
  t.is(indexLine, `index ${size - 1}`);
  const checkpoint = parseCheckpointText(parseNote(proof.slice(proof.indexOf('\n\n') + 2))?.text ?? '');
  t.true(checkpoint !== null && checkpoint.size >= size);
  const root = rootFromInclusion(leaves[size - 1] ?? rootOf([]), {
    index: size - 1,
    size: checkpoint?.size ?? 0,
    proof: hashes.map((hash) => Buffer.from(hash, 'base64')),
  });
  t.deepEqual(root, checkpoint?.root);
  t.is(await text(`/audit/consistency?from=${size}&to=${size}`), '');
});

test('An export goes on where an earlier one ended, and a folder of another origin is refused', async (t) => {
  const { client, cli, signed, directory } = await givenAuditedService(t);
  const first = await signed();
  const folder = join(directory, 'export');
  const made = await cli('--json', 'audit', 'export', folder);
  t.is(made.code, 0, made.stderr);
  const { origin } = JSON.parse(made.stdout) as { origin: string };
  const keys = await cli('audit', 'key');
  t.is(keys.stdout, readFileSync(join(folder, 'log.vkey'), 'utf8'));
  t.true(readFileSync(join(folder, 'checkpoint'), 'utf8').startsWith(`${origin}\n`));
  // When the log grows, a second run writes what is new and removes the narrower files
  await client.register('ben@example.org', password);
  const second = await signed(first);
  t.true(second > first);
  t.is((await cli('audit', 'export', folder)).code, 0);
  const lines = readFileSync(join(folder, `events/000.p/${second}`), 'utf8')
    .trimEnd()
    .split('\n');
  t.is(lines.length, second);
  t.throws(() => readFileSync(join(folder, `events/000.p/${first}`)), { code: 'ENOENT' });
  // and other folders are refused
  const other = join(directory, 'other');
  cpSync(folder, other, { recursive: true });
  rmSync(join(other, 'checkpoint'));
  writeFileSync(
    join(other, 'log.vkey'),
    'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n',
  );
  const refused = await cli('audit', 'export', other);
  t.is(refused.code, 1);
  t.regex(refused.stderr, /holds an export of PeterNeumann/);
  const full = await cli('audit', 'export', directory);
  t.is(full.code, 1);
  t.regex(full.stderr, /is not empty and holds no export/);
});

test('An export of tiles that are gone says that the service writes them again, and begins no folder', async (t) => {
  // Given a signed log whose read models are gone, as in a restored directory, and no service
  const { service, start, cli, signed, directory } = await givenAuditedService(t);
  await signed();
  await service.stop();
  for (const end of ['', '-wal', '-shm']) rmSync(join(directory, `read-models.db${end}`), { force: true });
  // When the operator exports the log
  const folder = join(directory, 'export');
  const refused = await cli('audit', 'export', folder);
  // Then
  t.is(refused.code, 1, refused.stderr);
  t.regex(refused.stderr, /tiles of the audit log are missing; start the service, which writes them/);
  t.false(existsSync(folder));
  // and after a start the export is made
  await start();
  await eventually('the tiles are there', async () => (await cli('audit', 'export', folder)).code === 0);
});

test('A log that an older copy has replaced is reported, and is not signed until a restart', async (t) => {
  // Given a signed log, and a copy of the whole directory from before some events
  const given = await givenAuditedService(t);
  const before = await given.signed();
  await given.service.stop();
  const kept = givenDirectory(t);
  for (const file of ['events.db', 'state.db']) cpSync(join(given.directory, file), join(kept, file));
  const between = await given.start();
  await given.client.register('ben@example.org', password);
  await given.client.register('cleo@example.org', password);
  const signedSize = await given.signed(before);
  await between.stop();
  // When the older log comes back, and the operator accepts the loss as the refused start says
  cpSync(join(kept, 'events.db'), join(given.directory, 'events.db'));
  for (const file of [
    'read-models.db',
    'read-models.db-wal',
    'read-models.db-shm',
    'events.db-wal',
    'events.db-shm',
  ]) {
    rmSync(join(given.directory, file), { force: true });
  }
  writeFileSync(join(given.directory, 'events.db.mark'), '');
  const stale = await given.start();
  // Then the service serves, reports both sizes and signs nothing
  await eventually(
    'the contradiction is reported',
    async () => (await given.status())['contradiction'] !== null,
  );
  t.regex(
    textOf((await given.status())['contradiction'] as JsonObject, 'what'),
    new RegExp(`^the log has \\d+ events, but a checkpoint of ${signedSize} events was signed$`),
  );
  t.is((await given.status())['signed_size'], signedSize);
  await eventually('the log names it', () => stale.output().includes('contradicts what was signed'));
  // and a restart begins another origin, which the log records
  const restarted = await given.cli('--json', 'audit', 'restart', '--reason', 'the disk was lost');
  t.is(restarted.code, 0, restarted.stderr);
  const { origin } = JSON.parse(restarted.stdout) as { origin: string };
  await eventually('the new origin is signed', async () => {
    const status = await given.status();
    return (
      status['origin'] === origin && status['contradiction'] === null && Number(status['signed_size']) > 0
    );
  });
});

test('A folder that cannot be written and a wrong file of witnesses stop the start with a sentence', async (t) => {
  const data = givenDirectory(t);
  const file = join(data, 'witnesses');
  writeFileSync(file, '# none\nnot-a-key http://127.0.0.1:1\n');
  const wrong = await runCli(data, ['serve'], { AUDIT_WITNESSES: file });
  t.is(wrong.code, 1);
  t.regex(wrong.stderr, /line 2 of AUDIT_WITNESSES is not "<vkey of a witness> <url>"/);
  const missing = await runCli(data, ['serve'], { AUDIT_WITNESSES: join(data, 'missing') });
  t.is(missing.code, 1);
  t.regex(missing.stderr, /AUDIT_WITNESSES names .*, which cannot be read \(ENOENT\)/);
  const folder = await runCli(data, ['serve'], {
    AUDIT_CHECKPOINT_DIR: file,
    PORT: String(await freePort()),
  });
  t.is(folder.code, 1);
  t.regex(
    folder.stderr,
    /AUDIT_CHECKPOINT_DIR cannot be used: (ENOTDIR|EEXIST); check the path and its rights/,
  );
});

test('A service keeps checkpoints in its data directory, and says at the start that none is elsewhere', async (t) => {
  // Given a service with the settings of a first start, but in production
  const { service, signed, directory, start } = await givenAuditedService(t, { NODE_ENV: 'production' });
  const sentence = 'the checkpoints of the audit log have no copy outside this service';
  await eventually('the sentence', () => service.output().includes(`stowage: ${sentence}`));
  const warnings = service.output().match(/^\{"level":40,.*has no copy outside the service/gm);
  t.is(warnings?.length, 1, service.output());
  // When it has signed
  const size = await signed();
  const kept = (name: string): number => {
    // A folder is there before its first file, and the service may not have made it yet.
    if (!existsSync(join(directory, name))) return 0;
    const [origin = ''] = readdirSync(join(directory, name));
    return Number(readdirSync(join(directory, name, origin)).at(-1));
  };
  // Then a folder and a copy beside the keys have the checkpoint
  await eventually('both files', () => kept('checkpoints') === size && kept('keys.json.checkpoint') === size);
  await service.stop();
  // When the folder is lost, the next start writes the last checkpoint into it
  rmSync(join(directory, 'checkpoints'), { recursive: true });
  await start();
  await eventually('the file is back', () => kept('checkpoints') > 0);
});
