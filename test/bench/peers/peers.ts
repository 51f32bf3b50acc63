import { join } from 'node:path';
import { cpuMsOf, straceMissing } from '../../support/servers/process-costs.js';
import { withAppendSides } from '../appends.js';
import { withScratchFolder } from '../install.js';
import { connections } from '../load.js';
import { whileSigningIn } from '../logins.js';
import { type Comparison, median } from '../measure.js';
import { serveUnlimited } from '../serve.js';
import { makeBetterAuthScene, makeKoaSides, makePocketBaseScene } from './peer-scenes.js';
import { writePeers } from './peers-report.js';
import { buildPocketBase, findNode, startBetterAuth, startKoa, startPocketBase } from './programs.js';
import { type Figures, measure, measureInTurns, overHttp, type PeerRow, type Requests } from './sides.js';
import { makeStowageScene } from './stowage-scene.js';

const rounds = Number(process.env['PEER_ROUNDS'] ?? 5);
const secrets = {
  standard: `whsec_${Buffer.from('ours'.padStart(24, '0')).toString('base64')}`,
  stripe: `whsec_TestOnly${'ours'.padStart(16, '0')}`,
};

/** Compares the service, as `serve` runs it, with programs that users would pick (docs/benchmarks.md#beside-other-programs). */
export async function benchPeers(): Promise<readonly Comparison[]> {
  const rows = await withScratchFolder(measurePeers);
  writePeers(rows);
  return [];
}

async function measurePeers(folder: string): Promise<readonly PeerRow[]> {
  const rows: PeerRow[] = [];
  const add = (row: PeerRow): void => {
    rows.push(row);
    const figures = row.figures.map(
      ({ program, perSecond, cpuMs }) => `${program} ${perSecond.toFixed(0)}/s, ${cpuMs.toFixed(2)} ms`,
    );
    process.stdout.write(`${row.what}: ${figures.join('; ')}\n`);
  };
  const programs = await prepare(folder);
  add(await compareStarts(programs.starts));
  const scenes = await startScenes(folder, programs);
  try {
    await measureRows(scenes, add);
  } finally {
    await scenes.stop();
  }
  await withAppendSides(async (sidesOf) => {
    for (const [inFlight, goal] of [
      [1, '0.75'],
      [64, '0.8'],
    ] as const) {
      const figures = await measureInTurns(sidesOf(inFlight), { rounds, inFlight });
      add({ what: `appends, ${inFlight} in flight`, goal, figures, by: 'rate' });
    }
  });
  return rows;
}

type Start = () => Promise<{ readonly pid: number; readonly name?: string; stop(): Promise<unknown> }>;

/** Installs and builds what is there, and starts each program once, so that later starts find their files. */
async function prepare(folder: string) {
  if (straceMissing !== null) skip('the counts of fsyncs and page writes', straceMissing);
  const node = await findNode(folder);
  if (node === null) skip('Node 26', `the programs run on ${process.version}`);
  const serve = () =>
    serveUnlimited(join(folder, 'data'), {
      ...(node !== null && { node }),
      environment: {
        PAYMENT_STANDARD_WEBHOOK_SECRETS: secrets.standard,
        PAYMENT_STRIPE_WEBHOOK_SECRETS: secrets.stripe,
        PAYMENT_STRIPE_LIVEMODE: 'true',
      },
    });
  const built = await buildPocketBase(folder);
  if (typeof built === 'string') skip('PocketBase', built);
  const pocketBase = typeof built === 'string' ? null : () => startPocketBase(built.program, folder);
  const starts: readonly Start[] = pocketBase === null ? [serve] : [serve, pocketBase];
  for (const start of starts) await (await start()).stop();
  return { node, serve, pocketBase, starts };
}

function skip(what: string, reason: string): void {
  process.stdout.write(`SKIPPED ${what}: ${reason}\n`);
}

/** Starts all programs, each with its users and their data. */
async function startScenes(folder: string, { node, serve, pocketBase }: Awaited<ReturnType<typeof prepare>>) {
  const running: { stop(): Promise<unknown> }[] = [];
  const hold = <Started extends { stop(): Promise<unknown> }>(started: Started): Started => {
    running.push(started);
    return started;
  };
  const stop = async (): Promise<void> => {
    for (const program of running.reverse()) await program.stop();
  };
  try {
    const betterAuth = await startBetterAuth(node, folder);
    if (typeof betterAuth === 'string') skip('Better Auth', betterAuth);
    return {
      ours: await makeStowageScene(hold(await serve())),
      theirs: pocketBase === null ? null : await makePocketBaseScene(hold(await pocketBase())),
      renewed: typeof betterAuth === 'string' ? null : await makeBetterAuthScene(hold(betterAuth)),
      koa: makeKoaSides(hold(await startKoa(node, folder, secrets))),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function measureRows(
  { ours, theirs, renewed, koa }: Awaited<ReturnType<typeof startScenes>>,
  add: (row: PeerRow) => void,
): Promise<void> {
  const row = async (
    what: string,
    { goal, by = 'rate' }: Pick<PeerRow, 'goal'> & Partial<PeerRow>,
    sides: readonly (Requests | null | undefined)[],
  ): Promise<void> => {
    const there = sides.filter((side) => side !== null && side !== undefined).map(overHttp);
    add({ what, goal, figures: await measureInTurns(there, { rounds }), by });
    await ours.renew();
  };
  const constant = async (side: Requests): Promise<Requests> => koa.constant(await ours.sizeOf(side));

  await row('GET with membership', { goal: '3.5' }, [ours.get(), theirs?.get, await constant(ours.get())]);
  await row('list of 50', { goal: '4' }, [ours.list(), theirs?.list]);
  await row('media URLs', { goal: '0.3' }, [ours.media(), await constant(ours.media())]);
  await row('POST asset', { goal: '1.2' }, [ours.asset(), theirs?.asset]);
  await row('POST storage', { goal: '1.5' }, [ours.storage(), theirs?.storage]);
  await row('refresh', { goal: '5' }, [ours.refresh(), renewed]);
  for (const provider of ['standard', 'stripe'] as const) {
    const { once, again } = await ours.callbacks(provider);
    const stored = koa.callbacks(again, await ours.sizeOf(again));
    await row(`callback of ${provider}`, { goal: '0.3' }, [once, stored]);
    await row(`the same callback of ${provider} again`, { goal: '0.4' }, [again, stored]);
  }
  await row('POST project', { goal: '1.8' }, [ours.project(), theirs?.project]);
  await ours.fill();
  await row('POST asset, one owner', { goal: 'CPU at most 1.1', by: 'cpu' }, [
    ours.assetOf(0, 'Stowage, 100 projects'),
    ours.assetOf(connections, 'Stowage, 1 project'),
  ]);
  add(await compareStorm(ours.get(), ours.signIn));
  if (theirs !== null) add(await compareStorm(theirs.get, theirs.signIn));
}

/** Compares the CPU time of a start with files until it is ready. */
async function compareStarts(starts: readonly Start[]): Promise<PeerRow> {
  const measured = starts.map((start) => ({
    start,
    name: 'Stowage',
    rounds: [] as { ms: number; cpuMs: number }[],
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const one of measured) {
      const began = performance.now();
      const program = await one.start();
      one.rounds.push({ ms: performance.now() - began, cpuMs: await cpuMsOf(program) });
      one.name = program.name ?? one.name;
      await program.stop();
    }
  }
  const figures = measured.map(({ name, rounds: of }): Figures => {
    const ms = median(of.map((round) => round.ms));
    return {
      program: name,
      perSecond: 1_000 / ms,
      p50: ms,
      p99: ms,
      cpuMs: median(of.map((round) => round.cpuMs)),
      calls: null,
    };
  });
  return { what: 'start to ready, again', goal: 'CPU 0.45 of 57580032', figures, by: 'cpu' };
}

/** Compares the GET of one client while 200 others sign in with the same client alone. */
async function compareStorm(get: Requests, signIn: (n: number) => Promise<number>): Promise<PeerRow> {
  const side = overHttp(get);
  const how = { inFlight: 1, seconds: 10 };
  const [storms, idles] = [[] as Figures[], [] as Figures[]];
  // A program may go on with a storm for long after its clients have gone, so it is idle before the first one only.
  for (let round = 0; round < 3; round += 1)
    idles.push({ program: `${side.program}, idle`, ...(await measure(side, how)), calls: null });
  for (let round = 0; round < 3; round += 1) {
    const storm = await whileSigningIn(signIn, () => measure(side, how));
    storms.push({ program: `${side.program}, 200 sign in`, ...storm, calls: null });
  }
  const middle = (figures: Figures[]): Figures => figures.sort((a, b) => a.p99 - b.p99)[1] as Figures;
  return {
    what: 'GET while 200 clients sign in',
    goal: 'p99 at most 3',
    figures: [middle(storms), middle(idles)],
    by: 'p99',
  };
}
