import { nextFulfilmentStep } from '../../../../src/areas/payments/commands/buying/fulfilling.js';
import type { OrderEvent } from '../../../../src/areas/payments/domain/order/events.js';
import {
  isDue,
  orderAggregate,
  type OrderCommand,
  type OrderState,
  type PlacedOrder,
} from '../../../../src/areas/payments/domain/order/order.js';
import { evolve } from '../../../../src/areas/payments/domain/order/fold.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';
import { digest, userId } from '../../examples/ids.js';
import { sealedExample } from '../../examples/sealed.js';
import type { Model } from './explore-interleavings.js';

const now = new Date('2026-01-02T03:04:05.000Z');
const price = { amount: 900, currency: 'USD' } as const;
const paid = { kind: 'paid', ...price } as const;
const refunded = { kind: 'refunded-in-total', currency: 'USD' } as const;
const dispute = { kind: 'dispute', dispute_id: 'd1' } as const;

/** A report, with the minute of the platform's time. */
type ModelReport = readonly [fact: PaymentFact, minute: number];

/** The reports on one order of each story. They arrive in any order. */
export const fulfilmentStories: Readonly<Record<string, readonly ModelReport[]>> = {
  'paid and refunded': [
    [paid, 0],
    [{ ...refunded, amount: 900 }, 1],
  ],
  'paid, lost in a dispute and won': [
    [paid, 0],
    [{ ...dispute, status: 'lost' }, 1],
    [{ ...dispute, status: 'won' }, 2],
  ],
  'paid, refunded and corrected': [
    [paid, 0],
    [{ ...refunded, amount: 900 }, 1],
    [{ ...refunded, amount: 100 }, 2],
  ],
  'paid too little, applied by the operator, refunded, and paid again': [
    [{ ...paid, amount: 700 }, 0],
    [{ ...refunded, amount: 700 }, 1],
    [paid, 2],
  ],
};

/** A process that stands between two calls to the log. */
interface Process {
  /** By reaction: the number of events of the log that it has passed. */
  readonly checkpoints: readonly number[];
  readonly task: Task | null;
}

/** The service of one event by one reaction. `order` and `holds`: what the process has read so far. */
interface Task {
  readonly reaction: number;
  readonly order: { readonly state: PlacedOrder; readonly revision: number } | null;
  readonly holds: boolean | null;
}

/** `log`: the types of the events, in their order, with the number of a report. */
interface World {
  readonly log: readonly string[];
  readonly order: PlacedOrder;
  /** The number of events of the order. */
  readonly revision: number;
  /** Whether the buyer holds the grant. */
  readonly holds: boolean;
  readonly arrived: readonly number[];
  readonly crashesLeft: number;
  readonly processes: readonly [Process, Process];
}

/**
 * Models two processes that fulfil one order. Each step of a process is one call to the log: it reads the order, reads
 * the grant, or appends. The decisions are those of production. A report, the operator and a crash come between any two
 * steps. A process that crashes starts again at the checkpoints that are further on. A reaction reads a log that grows while
 * the process looks, and passes an event only when its service has ended. In production, the first look only decides
 * whether a second one follows, so the model leaves it out.
 * @param followed the types that each reaction follows
 */
export function fulfilmentModel({
  reports,
  crashes,
  followed,
}: {
  readonly reports: readonly ModelReport[];
  readonly crashes: number;
  readonly followed: readonly (readonly string[])[];
}): Model<World> {
  const process: Process = { checkpoints: followed.map(() => 0), task: null };
  return {
    initial: {
      ...{ log: [], order: placedOrder(), revision: 1, holds: false, arrived: [] },
      ...{ crashesLeft: crashes, processes: [process, process] },
    },
    next: (world) => [
      ...reports.flatMap(([fact, minute], n) =>
        world.arrived.includes(n) ? [] : [[`report ${n} arrives`, arrive(world, n, fact, minute)] as const],
      ),
      ...operatorSteps(world),
      ...processSteps(world, 0),
      ...processSteps(world, 1),
    ],
    // The two processes are alike, so their order does not matter.
    keyOf: ({ log, crashesLeft, processes }) =>
      `${log.join()}|${crashesLeft}|${processes.map(keyOf).sort().join('|')}`,
    problemAtEnd: ({ order, holds }) => {
      if (isDue(order) !== holds) return `the grant is ${holds ? 'held and not due' : 'due and not held'}`;
      return order.is_granted === holds ? null : 'the order and the grant disagree';
    },
  };

  function processSteps(world: World, at: 0 | 1): readonly (readonly [string, World])[] {
    const { task, checkpoints } = world.processes[at];
    const name = `process ${at + 1}`;
    if (task !== null) {
      const stepped = [`${name} ${describe(task)}`, step(world, at, task)] as const;
      return world.crashesLeft === 0 ? [stepped] : [stepped, [`${name} crashes`, crash(world, at)]];
    }
    return followed.flatMap((types, reaction) => {
      const index = world.log.findIndex(
        (entry, n) => n >= (checkpoints[reaction] ?? 0) && types.includes(typeOf(entry)),
      );
      if (index === -1) return [];
      const begun: Task = { reaction, order: null, holds: null };
      const moved = checkpoints.map((checkpoint, n) => (n === reaction ? index : checkpoint));
      const after = step(withProcess(world, at, { checkpoints: moved }), at, begun);
      return [
        [`${name} takes event ${index}, ${world.log[index] ?? ''}, and reads the order`, after] as const,
      ];
    });
  }
}

function placedOrder(): PlacedOrder {
  const buys = {
    ...({ user_id: userId, project_id: null, plan_id: 'p', provider: 'standard' } as const),
    expires_at: now.toISOString(),
  };
  const command = { type: 'Place', ...buys, ...price, grant: { capacity_bytes: 5 } } as const;
  return placedAfter({ status: 'absent' }, orderAggregate.decider.decide(command, { status: 'absent' }));
}

function placedAfter(order: OrderState, events: readonly OrderEvent[]): PlacedOrder {
  const after = events.reduce(evolve, order);
  if (after.status === 'absent') throw new Error('the order was never placed');
  return after;
}

/** A command of the order reads it, decides and appends at the exact revision, so it is one step. */
function decided(world: World, command: OrderCommand, mark = ''): World {
  const events = orderAggregate.decider.decide(command, world.order);
  return {
    ...world,
    log: [...world.log, ...events.map(({ type }) => `${type}${mark}`)],
    order: placedAfter(world.order, events),
    revision: world.revision + events.length,
  };
}

function arrive(world: World, n: number, fact: PaymentFact, minute: number): World {
  const at = new Date(now.getTime() + minute * 60_000);
  const of = { provider: 'standard', transactionId: 't1', mismatch: null } as const;
  const report = { ...of, callback: `standard-r${n}.0`, fact, at };
  return {
    ...decided(world, { type: 'Report', reports: [report] }, `:${n}`),
    arrived: [...world.arrived, n].sort(),
  };
}

/** The operator applies a payment that differs from the order. */
function operatorSteps(world: World): readonly (readonly [string, World])[] {
  const waiting = world.order.mismatches.find(({ fact }) => fact.kind === 'paid');
  if (waiting === undefined) return [];
  const note = { note: sealedExample('why'), note_of: null, note_digest: digest };
  const command = { type: 'ResolveReview', callback: waiting.id, action: 'apply', note } as const;
  return [['the operator applies the payment', decided(world, command)]];
}

function step(world: World, at: 0 | 1, task: Task): World {
  if (task.order === null) {
    const order = { state: world.order, revision: world.revision };
    return withProcess(world, at, { task: { ...task, order } });
  }
  if (task.holds === null) return looked(world, at, { ...task, holds: world.holds });
  const next = nextOf(task);
  const again: Partial<Process> = { task: { ...task, order: null, holds: null } };
  if (next === 'mark') {
    return withProcess(
      decided(world, { type: isDue(task.order.state) ? 'MarkFulfilled' : 'MarkRevoked' }),
      at,
      again,
    );
  }
  const holds = next === 'grant';
  const event = holds ? 'CapacityGranted' : 'CapacityRevoked';
  const log = world.holds === holds ? world.log : [...world.log, event];
  return withProcess({ ...world, log, holds }, at, again);
}

/** A process that has read both goes on, or ends its task, and the checkpoint passes the event. */
function looked(world: World, at: 0 | 1, task: Task): World {
  if (nextOf(task) !== null) return withProcess(world, at, { task });
  const checkpoints = world.processes[at].checkpoints.map((checkpoint, n) =>
    n === task.reaction ? checkpoint + 1 : checkpoint,
  );
  return withProcess(world, at, { checkpoints, task: null });
}

function nextOf({ order, holds }: Task) {
  if (order === null || holds === null) throw new Error('the process has not read everything');
  const recipient = { status: 'there', holds, revision: 0n } as const;
  return nextFulfilmentStep({ order: order.state, revision: 0n, recipient });
}

function crash(world: World, at: 0 | 1): World {
  const [one, other] = world.processes;
  const checkpoints = one.checkpoints.map((checkpoint, n) => Math.max(checkpoint, other.checkpoints[n] ?? 0));
  return withProcess({ ...world, crashesLeft: world.crashesLeft - 1 }, at, { checkpoints, task: null });
}

function withProcess(world: World, at: 0 | 1, change: Partial<Process>): World {
  const [one, other] = world.processes;
  return {
    ...world,
    processes: at === 0 ? [{ ...one, ...change }, other] : [one, { ...other, ...change }],
  };
}

function keyOf({ checkpoints, task }: Process): string {
  if (task === null) return checkpoints.join('.');
  const { reaction, order, holds } = task;
  return `${checkpoints.join('.')}/${reaction}/${order?.revision ?? '-'}${holds ?? '-'}`;
}

function typeOf(entry: string): string {
  return entry.split(':')[0] ?? '';
}

function describe(task: Task): string {
  if (task.order === null) return 'reads the order';
  if (task.holds === null) return 'reads the grant';
  return `appends: ${nextOf(task) ?? 'nothing'}`;
}
