import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { backUp } from '../../../src/operating/backup/backup.js';
import { restoreBackup } from '../../../src/operating/backup/restore.js';
import { readConfig } from '../../../src/config/config.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { collectionName } from '../../../src/event-sourcing/views/projection.js';
import { makeServiceClient, textOf } from '../clients/service-client.js';
import { eventually } from '../eventually.js';
import { type ServiceInProcess, startInProcess } from '../servers/service-in-process.js';

const ignore = (): void => undefined;

/** Copies a data directory as the command does. */
export function makeBackup(directory: string, folder: string): ReturnType<typeof backUp> {
  return backUp(readConfig({ DATA_DIR: directory }), folder, { now: new Date(), onShare: ignore });
}

/** Restores a folder as the command does. */
export function restoreInto(directory: string, folder: string): ReturnType<typeof restoreBackup> {
  return restoreBackup(readConfig({ DATA_DIR: directory }), folder, ignore);
}

/** Writes that a service acknowledged: accounts that can sign in, and projects with the reply that made them. */
export interface Acknowledged {
  readonly accounts: { readonly email: string; readonly password: string }[];
  readonly projects: { readonly id: string; readonly owner: number; readonly body: string }[];
}

/** Clients that register and create projects without a pause. */
interface WritingClients {
  readonly acknowledged: Acknowledged;
  /** Resolves when this many projects are acknowledged. */
  reached(projects: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts clients. @param name distinguishes the accounts of several loads */
export function startWriting(
  url: string,
  { clients, name }: { clients: number; name: string },
): WritingClients {
  const acknowledged: Acknowledged = { accounts: [], projects: [] };
  const ending = new AbortController();
  const goesOn = (): boolean => !ending.signal.aborted;
  const client = makeServiceClient(url);
  const running = Array.from({ length: clients }, async (_, number) => {
    const password = 'Correct-Horse-7';
    for (let round = 0; goesOn(); round += 1) {
      const email = `${name}-${number}-${round}@example.org`;
      const owner = await client.register(email, password);
      const place = acknowledged.accounts.push({ email, password }) - 1;
      for (let made = 0; made < 10 && goesOn(); made += 1) {
        const reply = await client.post('/api/v1/projects', { name: `Film ${made}` }, owner.headers);
        if (reply.status !== 201) throw new Error(`creating a project was answered ${reply.status}`);
        acknowledged.projects.push({ id: textOf(reply.json(), 'id'), owner: place, body: reply.text });
      }
    }
  });
  return {
    acknowledged,
    reached: async (projects) => {
      while (acknowledged.projects.length < projects) await Promise.race([wait(5), Promise.all(running)]);
    },
    stop: async () => {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/** The number of accounts and projects that were acknowledged at a moment. */
export interface Counts {
  readonly accounts: number;
  readonly projects: number;
}

function countsOf({ accounts, projects }: Acknowledged): Counts {
  return { accounts: accounts.length, projects: projects.length };
}

/** Signs each of the first accounts in and reads its projects. Returns what differs from what was acknowledged. */
async function findLosses(
  url: string,
  { accounts, projects }: Acknowledged,
  counts: Counts,
): Promise<readonly string[]> {
  const client = makeServiceClient(url);
  const losses: string[] = [];
  for (const [index, { email, password }] of accounts.slice(0, counts.accounts).entries()) {
    const reply = await client.post('/api/v1/auth/login', { email, password });
    if (reply.status !== 200) {
      losses.push(`${email} signs in: ${reply.status} ${reply.text}`);
      continue;
    }
    const tokens = (reply.json() as { data: { tokens: JsonObject } }).data.tokens;
    const headers = { authorization: `Bearer ${textOf(tokens, 'access_token')}` };
    for (const { id, owner, body } of projects.slice(0, counts.projects)) {
      if (owner !== index) continue;
      const found = await client.get(`/api/v1/projects/${id}`, headers);
      if (found.text !== body) losses.push(`the project ${id}: ${found.status} ${found.text}`);
    }
  }
  return losses;
}

/** All documents of all views, by collection and id, with their revisions. */
export async function documentsOf(service: ServiceInProcess): Promise<ReadonlyMap<string, string>> {
  const { generations, readModelStore } = service.services;
  const found = new Map<string, string>();
  for (const projection of generations.projections) {
    const collection = collectionName(projection, generations.record(projection).live);
    for (let after: string | undefined; ;) {
      const page = await readModelStore.scan(collection, {
        limit: 500,
        ...(after === undefined ? {} : { after }),
      });
      for (const { id, revision, body } of page) {
        found.set(`${projection.name}/${id}`, JSON.stringify([String(revision), body]));
      }
      after = page.at(-1)?.id;
      if (after === undefined) break;
    }
  }
  return found;
}

/** Resolves when the views have passed the end that the log has now. */
export async function viewsAtHead(service: ServiceInProcess): Promise<void> {
  const head = await service.services.eventStore.head();
  const { generations } = service.services;
  if (head === null) return;
  await eventually('the views pass the end of the log', () =>
    generations.projections.every((view) => service.projections.shows(view, head)),
  );
}

/**
 * Backs a service up while clients write, and restores the folder. Checks that the restored service has every write that was
 * acknowledged before, and that documents whose streams did not go on are equal.
 * @param load.writes the projects that are acknowledged before the backup
 * @returns the restored service, which runs, and the number of equal documents
 */
export async function backUpUnderLoad(
  t: ExecutionContext,
  { data, folder, restored }: Readonly<Record<'data' | 'folder' | 'restored', string>>,
  load: { readonly name: string; readonly writes: number; readonly pauseMs?: number },
) {
  // Given a service with clients that write without a pause
  const service = await startInProcess({ directory: data });
  const writing = startWriting(service.url, { clients: 4, name: load.name });
  await writing.reached(load.writes);
  await wait(load.pauseMs ?? 0);
  // When it is backed up meanwhile
  const counts = countsOf(writing.acknowledged);
  const made = await makeBackup(data, folder);
  await writing.reached(counts.projects + 5);
  await writing.stop();
  await viewsAtHead(service);
  const documents = await documentsOf(service);
  await service.close();
  const { set_before_start } = await restoreInto(restored, folder);
  t.deepEqual(set_before_start, []);
  // Then the restored service has all of it
  const again = await startInProcess({ directory: restored });
  await viewsAtHead(again);
  const views = await documentsOf(again);
  t.deepEqual(await findLosses(again.url, writing.acknowledged, counts), [], load.name);
  let equal = 0;
  for (const [name, document] of views) {
    const [revision] = JSON.parse(document) as [string];
    const [now] = JSON.parse(documents.get(name) ?? '[]') as [string];
    if (revision !== now) continue;
    t.is(documents.get(name), document, name);
    equal += 1;
  }
  return { again, counts, made, equal };
}
