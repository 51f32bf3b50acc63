import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import {
  makeServiceClient,
  type ServiceReply,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenAsset, givenShare, sharePassword } from '../support/given/given-share.js';
import { operatorContext } from '../support/given/given-stores.js';
import { givenInProcess, grantStorageIn } from '../support/servers/service-in-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';
import { countDiskCalls, straceMissing } from '../support/servers/process-costs.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openReader } from '../../src/stores/embedded/files/database.js';
import { payOrder, placeOrder, standardEnvironment } from '../support/clients/standard-platform.js';
import { suite } from '../support/suite.js';

/* Counts the fsyncs of requests: each promise needs one, and more would cost a write its time (src/event-sourcing/README.md#append). */

const password = 'Correct-Horse-9';
const requests = 8;
const together = 32;
/** Fsyncs of other work meanwhile: checkpoints of SQLite, and of the audit log. */
const others = 6;

/** A service with mail and the platform `standard`, an owner with a proved address, a project and a storage. */
async function given(t: ExecutionContext, options: { readonly withoutReactions?: boolean } = {}) {
  const smtp = await givenSmtpServer(t);
  const service = await givenInProcess(t, {
    ...options,
    environment: {
      SMTP_URL: smtp.url,
      MAX_REQUESTS_PER_USER: '1000',
      ...standardEnvironment,
    },
  });
  const client = makeServiceClient(service.url);
  const register = async (email: string) => {
    const user = await client.register(email, password);
    await service.services.commands.verifyEmail({ email }, operatorContext());
    return user;
  };
  const { headers } = await register('owner@example.com');
  const post = async (path: string, body: JsonObject, by = headers): Promise<JsonObject> => {
    const reply = await client.post(`/api/v1${path}`, body, by);
    if (reply.status >= 300) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
    return reply.json();
  };
  const project = async (): Promise<string> => {
    const id = textOf(await post('/projects', { name: 'Rivers' }), 'id');
    await grantStorageIn(service, id);
    return `/projects/${id}`;
  };
  return { ...service, client, headers, post, project, register };
}

suite(test, straceMissing, 'The fsyncs of requests are counted where strace works', () => {
  test.serial(
    'A request makes as many fsyncs as its promises need, and shares them with others',
    async (t) => {
      t.timeout(600_000);
      const { directory, services, client, post, project, register } = await given(t, {
        withoutReactions: true,
      });
      const path = await project();
      const storage = textOf(await post(`${path}/storages`, storageRequest('Rushes')), 'id');
      const asset = { storage_id: storage, media_type: 'video/mp4', size: 1, name: 'Rhine' };
      const shared = await givenAsset(services);
      const many: { readonly path: string; readonly email: string; readonly token: string }[] = [];
      for (let n = 0; n < requests + together; n += 1) {
        const email = `member-${n}@example.com`;
        await register(email);
        many.push({ path: await project(), email, token: (await givenShare(services, shared)).token });
      }
      let sent = 0;
      const next = (): number => (sent += 1);
      /** Requests for different subjects: those for one wait for each other, since its stream has one order. */
      const one = () => many[next() % many.length] ?? { path, email: '', token: '' };
      const member = (email: string) => post(`${one().path}/members`, { email, role: 'viewer' });
      const newAsset = {
        ...{ what: 'POST asset', fsyncs: 1, writes: 25, mainReads: 5 },
        request: () => post(`${path}/assets`, asset),
      };
      await countRows(t, directory, [
        {
          what: 'POST project',
          fsyncs: 1,
          request: () => post('/projects', { name: 'Rivers' }),
        },
        newAsset,
        // The owner has twice as many projects now, and the project ten times as many assets. Index entries move on once.
        { ...newAsset, what: 'POST asset among many', alone: 32, writes: 28 },
        {
          // The claim of the key comes before the event.
          what: 'POST asset with a given key',
          fsyncs: 2,
          request: () => post(`${path}/assets`, { ...asset, object_key: `rushes/${next()}` }),
        },
        {
          what: 'a member',
          fsyncs: 2,
          request: () => member('member-0@example.com'),
        },
        { what: 'an invitation', fsyncs: 2, request: () => member(`${randomUUID()}@example.com`) },
        {
          what: 'POST storage',
          fsyncs: 2,
          request: () => post(`${one().path}/storages`, storageRequest('Rushes')),
        },
        {
          ...{ what: 'a sign-in', fsyncs: 3 },
          request: () => post('/auth/login', { email: one().email, password }, {}),
        },
        {
          ...{ what: 'share verify', fsyncs: 3 },
          request: () => post(`/shares/${one().token}/verify`, { password: sharePassword }, {}),
        },
      ]);
      t.is((await client.get('/readyz')).status, 200);
    },
  );

  const callbacks = [
    ['A callback that pays an order is one commit with it', { withoutReactions: true }, 1],
    ['The grant of what a callback pays is one commit with its mark on the order', {}, 2],
  ] as const;
  for (const [title, options, fsyncs] of callbacks)
    test.serial(title, async (t) => {
      t.timeout(600_000);
      const { directory, client, headers } = await given(t, options);
      const signed: (() => Promise<ServiceReply>)[] = [];
      for (let n = 0; n < requests + together; n += 1) {
        const order = await placeOrder(client, headers);
        signed.push(() => payOrder(client, order));
      }
      const request = () => (signed.pop() ?? (() => Promise.reject(new Error('all are sent'))))();
      await countRows(t, directory, [{ what: title, fsyncs, request }]);
    });
});

async function countRows(
  t: ExecutionContext,
  directory: string,
  rows: readonly {
    readonly what: string;
    readonly fsyncs: number;
    /** How many come one after the other. */
    readonly alone?: number;
    /** The most writes of pages and frames that a request may make, and reads of pages on the thread that answers. */
    readonly writes?: number;
    readonly mainReads?: number;
    readonly request: () => Promise<unknown>;
  }[],
): Promise<void> {
  const flaws: string[] = [];
  for (const { what, fsyncs, alone: count = requests, request, ...given } of rows) {
    const most = { writes: Infinity, mainReads: Infinity, ...given };
    await isQuiet();
    // When requests come one after the other
    const alone = await countDiskCalls(process.pid, async () => {
      for (let n = 0; n < count; n += 1) await request();
    });
    // Then
    const found = `${what}: ${alone.fsyncs} for ${count}, ${JSON.stringify(alone.fsyncsByFile)}`;
    const [writes, mainReads] = [alone.writes / count, alone.mainReads / count];
    t.log(found, { writes, mainReads });
    if (alone.fsyncs < count || alone.fsyncs > fsyncs * count + others) flaws.push(found);
    if (writes > most.writes || mainReads > most.mainReads)
      flaws.push(`${what}: ${writes} writes, ${mainReads} reads`);

    // When 32 of them come at once
    const { events, state } = await countCommits(directory, async () => {
      await Promise.all(Array.from({ length: together }, request));
    });
    // Then
    const shared = `${what}: ${events.commits} and ${state.commits} commits for ${together} at once`;
    t.log(shared);
    // A quiet machine makes a fifth of them. On a busy one the client, in this thread, sends the requests further apart.
    if (events.commits + state.commits > 0.75 * fsyncs * together) flaws.push(shared);
  }
  t.deepEqual(flaws, []);
}

/** Waits for the reactions to what came before. */
async function isQuiet(): Promise<void> {
  await eventually('no work is under way', async () => {
    const { fsyncs } = await countDiskCalls(process.pid, () => wait(1_000));
    return fsyncs === 0;
  });
}

const files = ['events', 'state', 'read-models'] as const;
type FileName = (typeof files)[number];

/** What a file's write-ahead log received. `events` and `state` sync each of their commits. */
interface Written {
  readonly commits: number;
  readonly pages: number;
}

/**
 * Counts the commits and the pages that the files of a data directory receive while work runs, without the slowness of strace.
 * Work may write at most 4,000 pages, since a checkpoint would begin the log again.
 */
async function countCommits(
  directory: string,
  work: () => Promise<unknown>,
): Promise<Readonly<Record<FileName, Written>>> {
  // A log that is not copied yet is not begun again while a reader is in it.
  const readers = files.map((file) => openReader(join(directory, `${file}.db`)));
  try {
    for (const reader of readers) {
      reader.execute('BEGIN');
      reader.query('SELECT count(*) FROM sqlite_schema').get();
    }
    const before = await framesOf(directory);
    await work();
    const after = await framesOf(directory);
    const written = files.map((file, index): [FileName, Written] => {
      const [from, to] = [before[index], after[index]];
      if (from === undefined || to === undefined) throw new Error(`${file}.db has no log`);
      const isSame = from.salt === to.salt;
      const since = (kind: keyof Written): number => to[kind] - (isSame ? from[kind] : 0);
      return [file, { commits: since('commits'), pages: since('pages') }];
    });
    return Object.fromEntries(written) as Record<FileName, Written>;
  } finally {
    for (const reader of readers) reader.close();
  }
}

function framesOf(directory: string): Promise<readonly (Written & { readonly salt: string })[]> {
  return Promise.all(files.map(async (file) => parse(await readFile(join(directory, `${file}.db-wal`)))));
}

/** Reads a log by SQLite's "WAL-mode File Format": frames with other salts are of an earlier log. */
function parse(log: Buffer): Written & { readonly salt: string } {
  const salt = log.toString('hex', 16, 24);
  const frameBytes = 24 + (log.length >= 32 ? log.readUInt32BE(8) : 0);
  let [pages, commits] = [0, 0];
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (log.toString('hex', at + 8, at + 16) !== salt) break;
    pages += 1;
    // The last frame of a transaction holds the size of the database.
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return { commits, pages, salt };
}
