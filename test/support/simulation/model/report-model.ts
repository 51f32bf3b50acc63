import type { Model } from './explore-interleavings.js';

/** A report of one transaction, by what it names: an order that exists, or nothing that exists. */
export type SentReport = 'A' | 'B' | null;

type OrderName = 'A' | 'B';

/** An event of the stream of the transaction. Its place is its revision. */
type TransactionEvent =
  /** `order`: the order that the report names, else the link that stands already, else null. */
  | { readonly kind: 'reported'; readonly report: number; readonly order: OrderName | null }
  /** The operator's decision on a report that waits; null dismisses it. */
  | { readonly kind: 'resolved'; readonly report: number; readonly order: OrderName | null };

/** What an order must know of a report. */
interface Due {
  readonly order: OrderName;
  readonly report: number;
  readonly kind: 'fact' | 'mismatch';
}

/** The service of a request, or of an event by the reaction, between two calls to the log. */
interface Work {
  /** The report of a request, or the revision that the reaction serves. */
  readonly of: number;
  readonly step: 'accept' | 'append' | 'tell';
  /** The events of the transaction that it knows. */
  readonly events: readonly TransactionEvent[];
}

interface Process {
  readonly checkpoint: number;
  readonly request: Work | null;
  readonly reaction: Work | null;
}

interface World {
  readonly transaction: readonly TransactionEvent[];
  /** `<order>/<report>/<kind>`, sorted. */
  readonly known: readonly string[];
  /** The reports that the platform sends no more. */
  readonly acknowledged: readonly number[];
  readonly operatorActs: boolean;
  readonly crashesLeft: number;
  readonly processes: readonly [Process, Process];
}

interface ReportModelOptions {
  readonly reports: readonly SentReport[];
  readonly crashes: number;
  /** Whether an operator decides once on a report that waits. */
  readonly operator: boolean;
  /** False breaks the protocol: an acceptance is appended at any revision, so it may have missed the link. */
  readonly atExactRevision?: boolean;
  /** False breaks the protocol: the reaction tells only the report that it serves, and not those that it releases. */
  readonly carriesOver?: boolean;
}

/** The link of a transaction: the first order that a report or a decision names. */
function linkOf(events: readonly TransactionEvent[]): OrderName | null {
  return events.find(({ order }) => order !== null)?.order ?? null;
}

function isDismissed(events: readonly TransactionEvent[], report: number): boolean {
  return events.some((event) => event.kind === 'resolved' && event.report === report && event.order === null);
}

/** Returns what the orders must know of these events. A report that names another order than the link is a mismatch there. */
function dueOf(events: readonly TransactionEvent[]): readonly Due[] {
  const link = linkOf(events);
  return events.flatMap((event): readonly Due[] => {
    const { kind, report, order } = event;
    if (kind === 'resolved' || link === null || isDismissed(events, report)) return [];
    return [
      order === null || order === link
        ? { order: link, report, kind: 'fact' }
        : { order, report, kind: 'mismatch' },
    ];
  });
}

/** Returns what the event at this revision makes due: its own report, and where it is the link those before it too. */
function dueAt(events: readonly TransactionEvent[], revision: number, carriesOver: boolean): readonly Due[] {
  const linkedAt = events.findIndex(({ order }) => order !== null);
  const isReleasing = carriesOver && revision === linkedAt;
  const meant = events.filter(
    ({ kind }, at) => (isReleasing ? at <= revision : at === revision) && kind === 'reported',
  );
  return dueOf(events).filter(({ report }) => meant.some((event) => event.report === report));
}

const nameOf = ({ order, report, kind }: Due): string => `${order}/${report}/${kind}`;

/**
 * Models docs/decisions/settlement.md#0062-reports-are-accepted: two processes accept
 * reports of one transaction in its stream and tell them to two orders. Each step is one call to the log. The platform sends
 * a report until it is acknowledged, also to both processes at once, or gives up once it is accepted. The operator and a crash
 * come between any two steps, also for an idle process. A reaction reads a log that grows while it looks.
 */
export function reportModel(options: ReportModelOptions): Model<World> {
  const { reports, crashes, operator, atExactRevision = true, carriesOver = true } = options;
  const idle: Process = { checkpoint: 0, request: null, reaction: null };
  return {
    initial: {
      ...{ transaction: [], known: [], acknowledged: [] },
      ...{ operatorActs: operator, crashesLeft: crashes, processes: [idle, idle] },
    },
    next: (world) =>
      [
        ...operatorSteps(world),
        ...lostSteps(world),
        ...processSteps(world, 0),
        ...processSteps(world, 1),
      ].map(([action, after]) => [action, settled(after)]),
    keyOf: ({ processes, ...world }) => {
      const futures = processes.map((one) => JSON.stringify(futureOf({ ...world, processes }, one)));
      return JSON.stringify(world) + futures.sort().join();
    },
    problemAtEnd: ({ transaction, known }) => {
      const due = dueOf(transaction).map(nameOf).sort();
      const lost = due.filter((name) => !known.includes(name));
      if (lost.length > 0) return `no order knows ${lost.join()}`;
      const wrong = known.filter((name) => !due.includes(name));
      return wrong.length === 0 ? null : `an order knows ${wrong.join()}`;
    },
  };

  function untold(due: readonly Due[], { known }: World): readonly string[] {
    return due.map(nameOf).filter((name) => !known.includes(name));
  }

  function dueOfRequest({ of: report, events }: Work): readonly Due[] {
    const revision = events.findIndex((event) => event.kind === 'reported' && event.report === report);
    return dueAt(events, revision, true);
  }

  /**
   * Takes the steps of a process that change nothing but its place: to tell what the orders know, and to pass an event whose
   * orders know all. They commute with all other steps, so their order proves nothing.
   */
  function settled(world: World): World {
    const [one, other] = world.processes;
    return { ...world, processes: [settledIn(world, one), settledIn(world, other)] };
  }

  function settledIn(world: World, { checkpoint, request, reaction }: Process): Process {
    const { transaction, acknowledged } = world;
    const tells = (due: readonly Due[]) => untold(due, world).length > 0;
    const isTold =
      request?.step === 'tell' && acknowledged.includes(request.of) && !tells(dueOfRequest(request));
    const asks = isTold ? null : request;
    if (reaction !== null && tells(dueAt(reaction.events, reaction.of, carriesOver)))
      return { checkpoint, request: asks, reaction };
    let at = reaction === null ? checkpoint : checkpoint + 1;
    const isLinked = linkOf(transaction) !== null;
    while (isLinked && at < transaction.length && !tells(dueAt(transaction, at, carriesOver))) at += 1;
    return { checkpoint: at, request: asks, reaction: null };
  }

  /** Returns what tells a process apart from others with the same future. */
  function futureOf(world: World, { checkpoint, request, reaction }: Process): unknown {
    const reacts = reaction === null ? null : untold(dueAt(reaction.events, reaction.of, carriesOver), world);
    return request?.step === 'tell'
      ? [checkpoint, reacts, request.of, untold(dueOfRequest(request), world)]
      : [checkpoint, reacts, request];
  }

  function operatorSteps(world: World): readonly (readonly [string, World])[] {
    const { transaction, operatorActs } = world;
    if (!operatorActs || linkOf(transaction) !== null) return [];
    return transaction.flatMap(({ report }) =>
      (['A', null] as const).map((order): readonly [string, World] => [
        `the operator ${order === null ? 'dismisses' : 'applies'} ${report}`,
        {
          ...world,
          operatorActs: false,
          transaction: [...transaction, { kind: 'resolved', report, order }],
        },
      ]),
    );
  }

  /** A platform that got no reply in time may send an accepted report no more. */
  function lostSteps(world: World): readonly (readonly [string, World])[] {
    const accepted = world.transaction.flatMap(({ kind, report }) => (kind === 'reported' ? [report] : []));
    return accepted
      .filter((report) => !world.acknowledged.includes(report))
      .map((report) => [`the platform gives up on ${report}`, withAcknowledged(world, report)]);
  }

  function withAcknowledged(world: World, report: number): World {
    return { ...world, acknowledged: [...new Set([...world.acknowledged, report])].sort() };
  }

  function processSteps(world: World, at: 0 | 1): readonly (readonly [string, World])[] {
    const process = world.processes[at];
    const name = `process ${at + 1}`;
    const { request, reaction, checkpoint } = process;
    const steps: (readonly [string, World])[] = [];
    if (request === null) {
      reports.forEach((_, report) => {
        if (world.acknowledged.includes(report)) return;
        const begun: Work = { of: report, step: 'accept', events: [] };
        steps.push([`${name} receives ${report}`, withProcess(world, at, { request: begun })]);
      });
    } else steps.push([`${name}: ${request.step} ${request.of}`, stepOfRequest(world, at, request)]);
    if (reaction === null) {
      if (checkpoint < world.transaction.length) {
        const begun: Work = { of: checkpoint, step: 'tell', events: world.transaction };
        steps.push([`${name} serves event ${checkpoint}`, withProcess(world, at, { reaction: begun })]);
      }
    } else steps.push([`${name} reacts to ${reaction.of}`, stepOfReaction(world, at, reaction)]);
    if (world.crashesLeft > 0) steps.push([`${name} crashes`, crash(world, at)]);
    return steps;
  }

  function stepOfRequest(world: World, at: 0 | 1, request: Work): World {
    const { transaction } = world;
    const { of: report, step, events } = request;
    if (step === 'tell') {
      const told = tell(world, dueOfRequest(request));
      return withProcess(withAcknowledged(told, report), at, { request: null });
    }
    const isKnown = transaction.some((event) => event.kind === 'reported' && event.report === report);
    if (isKnown)
      return withProcess(world, at, { request: { ...request, step: 'tell', events: transaction } });
    if (step === 'accept' && !atExactRevision)
      return withProcess(world, at, { request: { ...request, step: 'append', events: transaction } });
    // A command that appends at the exact revision reads, decides and appends in one step.
    const seen = step === 'append' ? events : transaction;
    const event = { kind: 'reported', report, order: reports[report] ?? linkOf(seen) } as const;
    return withProcess({ ...world, transaction: [...transaction, event] }, at, {
      request: { ...request, step: 'tell', events: [...seen, event] },
    });
  }

  function stepOfReaction(world: World, at: 0 | 1, { of: revision, events }: Work): World {
    const due = dueAt(events, revision, carriesOver);
    return withProcess(tell(world, due), at, { checkpoint: revision + 1, reaction: null });
  }

  function tell(world: World, due: readonly Due[]): World {
    return { ...world, known: [...new Set([...world.known, ...due.map(nameOf)])].sort() };
  }

  function crash(world: World, at: 0 | 1): World {
    const checkpoint = Math.max(...world.processes.map((process) => process.checkpoint));
    const crashesLeft = world.crashesLeft - 1;
    return withProcess({ ...world, crashesLeft }, at, { checkpoint, request: null, reaction: null });
  }

  function withProcess(world: World, at: 0 | 1, change: Partial<Process>): World {
    const [one, other] = world.processes;
    return {
      ...world,
      processes: at === 0 ? [{ ...one, ...change }, other] : [one, { ...other, ...change }],
    };
  }
}
