import autocannon from 'autocannon';
import { cpuMsOf, countDiskCalls, straceMissing } from '../../support/servers/process-costs.js';
import { connections } from '../load.js';
import { median } from '../measure.js';

const roundSeconds = 2;
/** Requests of which the disk calls are counted: one after the other, and as many at once as a round sends. */
const countedRequests = 64;

/** How much a side sends: for a time, or a number of requests. */
export interface Amount {
  readonly inFlight: number;
  readonly amount?: number | undefined;
  /** 2 when left out. */
  readonly seconds?: number;
}

/** What was answered: the time of each request and of all together, in ms. */
export interface Answered {
  readonly times: number[];
  readonly tookMs: number;
}

/** A program that is asked, and its requests. */
export interface Side {
  readonly program: string;
  /** The process whose CPU time and disk calls count. */
  readonly pid: number;
  /** Requests of a round, for those that can be sent once only. A round without it takes 2 s. */
  readonly amount?: number;
  readonly send: (how: Amount) => Promise<Answered>;
}

/** The requests of a side over HTTP. */
export interface Requests {
  readonly program: string;
  readonly url: string;
  readonly pid: number;
  readonly status?: number;
  readonly amount?: number;
  /** Returns the next request of a connection, and receives the body of its reply. */
  readonly connect: (connection: number) => {
    readonly next: () => autocannon.Request;
    readonly onReply?: (body: string) => void;
  };
}

/** The figures of a side. Calls are null where they are not counted. */
export interface Figures {
  readonly program: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** CPU time of the process with its threads, in ms a request. */
  readonly cpuMs: number;
  readonly calls: { readonly alone: PerRequest; readonly together: PerRequest } | null;
}

/** A row of the table: the figures of this service, then those of the peers. The first peer is that of the goal. */
export interface PeerRow {
  readonly what: string;
  readonly figures: readonly Figures[];
  readonly goal: string;
  /** What the goal compares: the rates, the CPU or the 99th percentiles. */
  readonly by: 'rate' | 'cpu' | 'p99';
}

interface PerRequest {
  readonly fsyncs: number;
  readonly writes: number;
}

export type Round = Omit<Figures, 'program' | 'calls'>;

/** Measures sides in turns. The first round does not count. @returns medians, in the order of the sides */
export async function measureInTurns(
  sides: readonly Side[],
  { rounds, inFlight = connections }: { readonly rounds: number; readonly inFlight?: number },
): Promise<readonly Figures[]> {
  const measured = sides.map((side) => ({ side, rounds: [] as Round[] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { side, rounds: figures } of measured) {
      const one = await measure(side, { inFlight, amount: side.amount });
      if (round > 0) figures.push(one);
    }
  }
  const all: Figures[] = [];
  for (const { side, rounds: figures } of measured) {
    const of = (name: keyof Round): number => median(figures.map((figure) => figure[name]));
    all.push({
      program: side.program,
      ...{ perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), cpuMs: of('cpuMs') },
      calls:
        straceMissing === null
          ? { alone: await countCalls(side, 1), together: await countCalls(side, connections) }
          : null,
    });
  }
  return all;
}

async function countCalls(side: Side, inFlight: number): Promise<PerRequest> {
  const { fsyncs, writes } = await countDiskCalls(side.pid, () =>
    side.send({ inFlight, amount: countedRequests }),
  );
  return { fsyncs: fsyncs / countedRequests, writes: writes / countedRequests };
}

/** Sends requests once. */
export async function measure(side: Side, how: Amount): Promise<Round> {
  const cpuBefore = await cpuMsOf(side);
  const { times, tookMs } = await side.send(how);
  const cpuMs = (await cpuMsOf(side)) - cpuBefore;
  return { perSecond: (times.length * 1_000) / tookMs, ...percentilesOf(times), cpuMs: cpuMs / times.length };
}

function percentilesOf(times: number[]): { readonly p50: number; readonly p99: number } {
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Sends requests over keep-alive connections. Any other status makes the figure worthless. */
export function overHttp({ program, url, pid, status = 200, amount, connect }: Requests): Side {
  return { program, pid, ...(amount !== undefined && { amount }), send };

  async function send({ inFlight, amount: wanted, seconds = roundSeconds }: Amount): Promise<Answered> {
    const times: number[] = [];
    const others: Record<number, number> = {};
    let connected = 0;
    const began = performance.now();
    let ended = began;
    await new Promise<void>((resolve, reject) => {
      const setupClient = (client: autocannon.Client): void => {
        const { next, onReply } = connect(connected++);
        client.setRequests([
          {
            setupRequest: (request) => ({ ...request, ...next() }),
            onResponse: (_, body) => onReply?.(body),
          },
        ]);
      };
      const run = autocannon(
        {
          url,
          setupClient,
          connections: inFlight,
          // A program that is overloaded may answer later than after autocannon's 10 s. That is a figure, no error.
          timeout: 60,
          ...(wanted === undefined ? { duration: seconds } : { amount: wanted }),
        },
        (error: Error | null, result) => {
          if (error !== null) reject(error);
          else if (result.errors > 0) reject(new Error(`${program}: ${result.errors} errors`));
          else resolve();
        },
      );
      run.on('response', (_client, answered, _bytes, ms) => {
        ended = performance.now();
        if (answered === status) times.push(ms);
        else others[answered] = (others[answered] ?? 0) + 1;
      });
    });
    if (Object.keys(others).length > 0)
      throw new Error(`${program} answered other than ${status}: ${JSON.stringify(others)}`);
    if (times.length > 0) return { times, tookMs: ended - began };
    // Nothing was answered, so a request takes as long as the round at least.
    const tookMs = performance.now() - began;
    return { times: [tookMs], tookMs };
  }
}
