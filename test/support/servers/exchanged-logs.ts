import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import {
  makeServiceClient,
  type ServiceClient,
  type SignedIn,
  signedIn,
  textOf,
} from '../clients/service-client.js';
import { eventually } from '../eventually.js';
import {
  givenService,
  givenDirectory,
  keyEnvironment,
  type Environment,
  freePort,
  type ServiceProcess,
  spawnService,
} from './service-process.js';
import {
  makeProposed,
  startEventStoreDbServer,
  type EventStoreDbServer,
} from './eventstoredb-server/server.js';
import { keepAsking } from './keep-asking.js';
import { ownMsUntil } from './process-costs.js';

/** The time from the reconnection until the service has said what is wrong. The waits for a core do not count. */
const noticedMsMax = 15_000;
/** More events than the clients have in flight, so that the copy lacks acknowledged ones. */
const lost = 30;

/** What an exchange puts under the server, and the sentence with which the service then ends. */
export interface Exchange {
  readonly what: string;
  readonly exchange: (server: EventStoreDbServer, t: ExecutionContext) => void | Promise<void>;
  readonly sentence: RegExp;
  /** The sentence at a start, if it differs: the service has given its id to the log that it found. */
  readonly sentenceAtStart?: RegExp;
}

export const exchanges: readonly Exchange[] = [
  {
    what: 'an older copy',
    exchange: ({ log }) => log.become({ records: log.records.slice(0, -lost) }),
    sentence: /older/,
  },
  {
    what: 'an older copy that has grown past the known position',
    exchange: ({ log }) => {
      const known = log.records.at(-1)?.position ?? 0n;
      log.become({ records: log.records.slice(0, -lost) });
      const large = makeProposed({ data: JSON.stringify('x'.repeat(1_000)) });
      while ((log.records.at(-1)?.position ?? 0n) <= known) {
        log.append('stowage.project-018f0000-0000-7000-8000-000000000001', 'any', [
          { ...large, id: crypto.randomUUID() },
        ]);
      }
    },
    sentence: /older/,
  },
  {
    what: 'an empty log',
    exchange: ({ log }) => log.restore(0),
    sentence: /empty/,
    sentenceAtStart: /log [0-9a-f-]{36}/,
  },
  {
    what: 'the log of another service',
    exchange: async ({ log }, t) => {
      const other = await given(t, {});
      t.is(await other.service.stop(), 0);
      log.become(other.server.log);
    },
    // A reader may look for its last event before the check of the log's id ends.
    sentence: /log [0-9a-f-]{36}|another one is there/,
  },
];

/** An operation on one stream that removes events. */
interface Strike {
  readonly what: string;
  readonly strike: (server: EventStoreDbServer, stream: string) => void;
}

export const strikes: readonly Strike[] = [
  ...[{ $maxCount: 1 }, { $maxAge: 0 }, { $tb: 2 }].map((metadata) => ({
    what: Object.keys(metadata).join(),
    strike: ({ log }: EventStoreDbServer, stream: string) => log.setMetadata(stream, metadata),
  })),
  {
    what: 'a soft delete',
    strike: ({ log }, stream) => log.softDelete(stream),
  },
  {
    what: 'a tombstone',
    strike: ({ log }, stream) => log.tombstone(stream),
  },
];

/** A log is exchanged, or a stream struck, either while clients write or while no process runs. */
export type Moment = 'under load' | 'at start';
export const moments: readonly Moment[] = ['under load', 'at start'];

/** Starts a served process with its log in EventStoreDB, and registers a person. */
async function given(t: ExecutionContext, stores: Environment) {
  const server = await startEventStoreDbServer();
  t.teardown(() => server.close());
  const directory = givenDirectory(t);
  const options = {
    ...{ directory, port: await freePort() },
    environment: { ...keyEnvironment, EVENTSTOREDB_URL: server.url, LOG_LEVEL: 'warn', ...stores },
  };
  const service = await givenService(t, options);
  const client = makeServiceClient(service.url);
  const owner = await signUp(client);
  /** Starts the process again on its stores, without waiting. */
  const spawn = (): ServiceProcess => {
    const again = spawnService(options);
    t.teardown(() => again.kill());
    return again;
  };
  return { server, service, client, owner, spawn };
}

/** Exchanges the log. Asserts that the process ends with the sentence in time, and acknowledges nothing afterwards. */
export async function exchangeLog(
  t: ExecutionContext,
  { exchange, sentence, sentenceAtStart = sentence }: Exchange,
  { moment, stores }: { readonly moment: Moment; readonly stores: Environment },
): Promise<void> {
  const scene = await given(t, stores);
  const { server, service, client, owner } = scene;
  // Given clients that write without a pause
  const created: string[] = [];
  const load = keepAsking(t, async () => {
    const reply = await client.post('/api/v1/projects', { name: 'Film' }, owner.headers);
    if (reply.status === 201) created.push(textOf(reply.json(), 'id'));
    return reply.status === 201;
  });
  await eventually(`${lost} projects are made`, () => created.length >= lost);
  // When the server stops, and starts again with another log
  if (moment === 'at start') t.is(await service.stop(), 0);
  await untilSilent(server);
  await load.answered();
  const acknowledged = created.length;
  await exchange(server, t);
  await server.network.accept();
  const meeting = moment === 'at start' ? scene.spawn() : service;
  // Then the process ends in time, says why, and has acknowledged nothing
  const exit: { code?: number | null } = {};
  void meeting.exited.then((code) => {
    exit.code = code;
  });
  const noticed = await ownMsUntil(
    meeting,
    () => 'code' in exit,
    () => meeting.output(),
  );
  await load.stop();
  t.log(`the process ended after ${inWords(noticed)}`);
  t.true(noticed.ownMs <= noticedMsMax, `${noticed.ownMs} ms`);
  t.is(exit.code, 1);
  const expected = moment === 'at start' ? sentenceAtStart : sentence;
  t.regex(meeting.output(), new RegExp(`^stowage: .*${expected.source}`, 'm'));
  t.is(created.length, acknowledged);
  if (moment === 'at start') t.false(meeting.output().includes('Stowage listens on'));
}

/**
 * Strikes a stream. Asserts that the service names it in time, acknowledges no further write of it, loses none of those
 * before, and serves the other streams.
 */
export async function strikeStream(
  t: ExecutionContext,
  { strike }: Strike,
  { moment, stores }: { readonly moment: Moment; readonly stores: Environment },
): Promise<void> {
  const scene = await given(t, stores);
  const { server, service, client, owner } = scene;
  // Given clients that rename two projects without a pause
  const create = () => client.makeProject(owner.headers);
  const [damaged, whole] = [await create(), await create()];
  const renamed = new Map([
    [damaged, 0],
    [whole, 0],
  ]);
  const refusals: number[] = [];
  const keepRenaming = (id: string) =>
    keepAsking(t, async () => {
      const { status } = await client.patch(
        `/api/v1/projects/${id}`,
        { name: `Film ${crypto.randomUUID()}` },
        owner.headers,
      );
      if (status === 200) renamed.set(id, count(id) + 1);
      else if (id === damaged && isStruck) refusals.push(status);
      return status === 200;
    });
  const count = (id: string): number => renamed.get(id) ?? 0;
  const untilMore = async (id: string): Promise<void> => {
    const before = count(id);
    await eventually('five further renames succeed', () => count(id) >= before + 5);
  };
  let isStruck = false;
  const load = { damaged: keepRenaming(damaged), whole: keepRenaming(whole) };
  await Promise.all([untilMore(damaged), untilMore(whole)]);
  // When an operator strikes the stream of one of them while the process is disconnected
  if (moment === 'at start') {
    // The views have passed an event of this stream last. They look for it when they start.
    await load.whole.stop();
    await untilMore(damaged);
    await load.damaged.stop();
    t.is(await service.stop(), 0);
  }
  await untilSilent(server);
  await Promise.all([load.damaged.answered(), load.whole.answered()]);
  const acknowledged = count(damaged);
  isStruck = true;
  const stream = `stowage.project-${damaged}`;
  strike(server, stream);
  await server.network.accept();
  const meeting = moment === 'at start' ? scene.spawn() : service;
  if (moment === 'at start') {
    load.damaged = keepRenaming(damaged);
    load.whole = keepRenaming(whole);
  }
  // Then the log names the stream in time, and its writes are 500
  const isNoticed = (): boolean => meeting.output().includes(stream) && refusals.includes(500);
  const noticed = await ownMsUntil(meeting, isNoticed, () => meeting.output());
  t.log(`the stream was named after ${inWords(noticed)}`);
  t.true(noticed.ownMs <= noticedMsMax, `${noticed.ownMs} ms`);
  // and the other project goes on, and no acknowledgement is lost
  await untilMore(whole);
  await Promise.all([load.damaged.stop(), load.whole.stop()]);
  t.is(count(damaged), acknowledged);
  const kept = server.log.records.filter((record) => record.stream === stream);
  t.true(kept.filter(({ type }) => type === 'ProjectRenamed').length >= count(damaged));
  t.is((await client.get('/readyz')).status, 200);
}

function inWords({ tookMs, ownMs }: { readonly tookMs: number; readonly ownMs: number }): string {
  return `${Math.round(tookMs)} ms, and ${Math.round(ownMs)} ms without the waits for a core`;
}

/** Signs a person up. A busy machine may take too long for the first attempts. */
async function signUp(client: ServiceClient): Promise<SignedIn> {
  const [email, password] = ['ada@example.org', 'Correct-Horse-7'];
  for (let attempt = 1; ; attempt += 1) {
    const reply = await client.post('/api/v1/auth/register', { email, password });
    if (reply.status === 201) return signedIn(reply.json());
    // An earlier attempt has made the account.
    if (reply.status === 409) return client.login(email, password);
    if (attempt === 20) throw new Error(`registering was answered ${reply.status}: ${reply.text}`);
    await wait(500);
  }
}

/** Disconnects the server, and waits until it has handled what has reached it. Nothing of that comes into another log. */
async function untilSilent({ network, log }: EventStoreDbServer): Promise<void> {
  await network.refuse();
  for (let count = -1; count !== log.records.length;) {
    count = log.records.length;
    await wait(200);
  }
}
