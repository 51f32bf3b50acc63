import { withoutViews } from '../support/kernel/world.js';
import type { StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../src/kit/semaphore.js';
import { derivedId } from '../../src/event-sourcing/deciding/command-handler.js';
import { makeCommandHandler } from '../../src/event-sourcing/deciding/make-command-handler.js';
import {
  makeAddressReservations,
  takeOverAfterMs,
} from '../../src/areas/accounts/commands/email/address-reservations.js';
import { makeRegistering } from '../../src/areas/accounts/commands/registering.js';
import { isRejection, type UseCaseRejection } from '../../src/areas/shared/rejections.js';
import { makeSessions } from '../../src/areas/accounts/commands/signing-in/sessions.js';
import { projections } from '../../projections/index.js';
import { makeUserReader, type UserReader } from '../../projections/accounts/users/reader.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { digest } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import {
  chooseWeather,
  calm,
  makeSimulation,
  type Sabotage,
  type ScheduleOptions,
  type SimulatedProcess,
  type Simulation,
  type Weather,
  type Tally,
} from './register-simulation.js';
import { partial } from '../support/fakes/partial.js';
import type { Sealer } from '../../src/keys/sealing/sealer.js';
import { noKnownDevices, noOtherSessions } from '../support/fakes/unguarded.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import type { Digests } from '../../src/keys/sealing/digests.js';

const views = new Map<string, (typeof projections)[number][]>();
for (const view of projections) views.set(view.category, [...(views.get(view.category) ?? []), view]);
/** Writes no documents. Its views are those of production. */
const documentWriter = { ...withoutViews, viewsOf: (category: string) => views.get(category) ?? [] };

const sealed = sealedExample('sealed');
export const sealer = partial<Sealer>({
  seal: () => Promise.resolve(sealed),
  open: () => Promise.resolve('opened'),
});
const digests = partial<Digests>({ email: () => digest, ip: () => digest });
const users = makeUserReader({
  // The reader only returns documents that a command passes to it. It reads no view.
  views: partial({ of: () => partial({}) }),
  usedBytes: () => Promise.resolve(0),
  sealer,
});
const issued = { generation: 1, kid: 'r1', token: 'a refresh token', digest };
const access = { token: 'an access token', expiresAt: new Date(0), expiresInSeconds: 600 };
const input = { email: 'ada@example.com', password: 'Correct-Horse-7', client: null, userAgent: null };

/** Makes a handler of production over a simulated process, and what it needs. Hashing, sealing and signing cost nothing. */
export function makeProcessDeps(
  { eventStore, clock }: SimulatedProcess,
  { random }: Simulation,
  sabotage: Sabotage,
) {
  const handler = sabotage(
    makeCommandHandler({ eventStore, documentWriter, clock, random, cachedStreamsMax: 8 }),
  );
  return {
    ...{ handler, sealer, reservations: makeAddressReservations({ handler, clock }) },
    ...{ knownDevices: noKnownDevices, cannotMail: () => Promise.resolve(false), mailConfigured: false },
  };
}

/** Makes the registration of production. */
export function registeringOf(
  deps: ReturnType<typeof makeProcessDeps>,
  more: { readonly digests: Digests; readonly users: UserReader },
) {
  const common = { ...deps, ...more };
  return makeRegistering({
    ...common,
    passwords: partial({ hash: () => Promise.resolve('a hash') }),
    checkPassword: () => null,
    verificationIssues: partial({}),
    ...makeSessions({
      ...{ ...common, sessions: noOtherSessions, onFailure: () => undefined },
      refreshTokens: partial({ issue: (sessionId) => ({ ...issued, sessionId }) }),
      accessTokens: partial({ sign: () => Promise.resolve(access) }),
    }),
    defaultCapacityBytes: 1,
  });
}

/** The probability of each fault in the worst weather. */
const worst: Weather = { crash: 0.04, refuse: 0.1, loseAcknowledgement: 0.3, delay: 0.1, longPause: 0.08 };

/**
 * Runs one schedule: 2 to 4 clients register one address at once. Returns the problem of its history, or null.
 * @param seed determines the whole schedule
 */
export async function runSchedule(
  seed: number,
  { tally, sabotage = (handler) => handler }: ScheduleOptions,
): Promise<string | null> {
  const simulation = makeSimulation({ random: makeSeededRandom(seed), tally });
  const { random, chance } = simulation;
  const weather = chooseWeather(chance, worst);
  simulation.setWeather(weather);
  const skewMsMax = weather !== calm && chance(0.2) ? 90_000 : 0;
  const count = 2 + Math.floor(random() * 3);
  const operations: Operation[] = [];
  const began = simulation.nowMs();
  for (let index = 0; index < count; index += 1) operations.push(startClient(index));
  await simulation.run();
  const undisturbed = weather === calm && simulation.nowMs() - began < takeOverAfterMs;
  const problem = judge({ operations, log: await simulation.events(), skewMsMax, undisturbed }, tally);
  // A third of the schedules are checked afterwards, which takes as long as another client.
  return problem ?? (chance(1 / 3) ? checkAftermath() : null);

  function startClient(index: number): Operation {
    const name = `client ${String(index + 1)}`;
    const context = simulation.nextContext();
    const operation: Operation = {
      name,
      context,
      userId: derivedId(context, 'user'),
      startedAt: simulation.step(),
      endedAt: Infinity,
      outcome: 'unknown',
      lastTryMs: simulation.nowMs(),
      doubled: false,
    };
    startTry(operation, 1);
    return operation;
  }

  /** Starts an attempt in a new process. After a crash or a failure the client may repeat the command elsewhere. */
  function startTry(operation: Operation, number: number): void {
    const again = (): void => {
      if (number < 3 && chance(0.6)) startTry(operation, number + 1);
    };
    const triedAtMs = simulation.nowMs();
    const skewMs = (random() * 2 - 1) * skewMsMax;
    if (number === 1 && weather !== calm && chance(0.05)) {
      operation.doubled = true;
      startTry(operation, 2);
    }
    const main = async (process: SimulatedProcess): Promise<void> => {
      try {
        const { user } = await registeringOf(makeProcessDeps(process, simulation, sabotage), {
          digests,
          users,
        }).register(input, operation.context);
        if (user.id !== operation.userId) throw new Error(`${operation.name} got another user`);
        finish(operation, 'success', triedAtMs);
      } catch (error) {
        if (isRejection<UseCaseRejection>(error, 'email_taken')) finish(operation, 'taken', triedAtMs);
        else if (error instanceof StoreUnavailable || error instanceof Overloaded) again();
        else throw error;
      }
    };
    simulation.start(main, { skewMs, onCrash: again });
  }

  function finish(operation: Operation, outcome: 'success' | 'taken', triedAtMs: number): void {
    // The first answer is that of the client. A later success must still be true.
    if (operation.outcome === 'unknown' || outcome === 'success') {
      operation.outcome = outcome;
      operation.lastTryMs = triedAtMs;
      operation.endedAt = Math.min(operation.endedAt, simulation.step());
    }
  }

  /** Checks that after the schedule the address has an owner or can be registered. */
  async function checkAftermath(): Promise<string | null> {
    simulation.setWeather(calm);
    const owners = registeredUsers(await simulation.events());
    simulation.advance(2 * takeOverAfterMs + 2 * skewMsMax);
    const late = startClient(count);
    await simulation.run();
    const expected = owners.length === 0 ? 'success' : 'taken';
    if (late.outcome !== expected) return `a late client got ${late.outcome} instead of ${expected}`;
    return registeredUsers(await simulation.events()).length === 1
      ? null
      : 'the late client made a second user';
  }
}

/** The attempt of one client to register the address: one command that is sent once or repeatedly. */
interface Operation {
  readonly name: string;
  readonly context: CommandContext;
  readonly userId: string;
  readonly startedAt: number;
  /** The step at which the client got its answer. Infinity while it has none. */
  endedAt: number;
  outcome: 'success' | 'taken' | 'unknown';
  /** When the process started that gave the answer, in milliseconds. */
  lastTryMs: number;
  /** Whether a process that the client no longer waits for may still be running. */
  doubled: boolean;
}

/** The history of one schedule. */
interface History {
  readonly operations: readonly Operation[];
  readonly log: readonly StoredEvent[];
  /** The largest skew of the processes' clocks, in milliseconds. */
  readonly skewMsMax: number;
  /** Whether there were no faults, no skew and no long pause. Then exactly one client must succeed. */
  readonly undisturbed: boolean;
}

function registeredUsers(log: readonly StoredEvent[]): readonly string[] {
  return log
    .filter(({ type }) => type === 'UserRegistered')
    .map(({ stream }) => stream.slice('user-'.length));
}

/**
 * Returns the problem of a history, or null. The address is a register that can be written once (linearizable: Herlihy
 * and Wing, 1990), and a success writes it. A refused client must find it written, or conflict with another client:
 * that client's reservation was younger than the take-over time, or the refused client itself was abandoned.
 */
function judge(history: History, tally: Tally): string | null {
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  for (const { outcome } of history.operations) count(outcome);
  if (history.log.some(({ type }) => type === 'RegistrationAbandoned')) count('given up');
  return judgeOwner(history) ?? judgeRefusals(history, count);
}

function judgeOwner({ operations, log, undisturbed }: History): string | null {
  const owners = registeredUsers(log);
  const successes = operations.filter(({ outcome }) => outcome === 'success');
  if (owners.length > 1) return `${String(owners.length)} users have registered the address`;
  if (successes.some(({ userId }) => !owners.includes(userId))) return 'a success without a user';
  if (undisturbed && successes.length !== 1) return 'without faults not exactly one client has succeeded';
  const [owner] = owners;
  if (owner === undefined) return null;
  const holder = log.findLast(({ type }) => type === 'EmailReserved')?.data['user_id'];
  if (holder !== owner) return 'the address is not reserved for its user';
  const winner = operations.find(({ userId }) => userId === owner);
  if (winner === undefined) return 'a user whom no client registered';
  const misled = winner.outcome === 'taken' && !winner.doubled;
  return misled ? 'the client that registered was answered that the address is taken' : null;
}

function judgeRefusals(history: History, count: (what: string) => void): string | null {
  const { operations, log, undisturbed } = history;
  const [owner] = registeredUsers(log);
  const winner = operations.find(({ userId }) => userId === owner);
  for (const operation of operations) {
    if (operation.outcome !== 'taken' || operation === winner) continue;
    if (winner !== undefined && winner.startedAt < operation.endedAt) continue;
    if (undisturbed || !wasInTheWay(operation, history)) return `${operation.name} was refused for no reason`;
    count('refused by one who failed');
  }
  return null;
}

function wasInTheWay(operation: Operation, { skewMsMax, log }: History): boolean {
  return log.some(({ type, stream, data, recordedAt }) => {
    if (type === 'RegistrationAbandoned') return stream === `user-${operation.userId}`;
    if (type !== 'EmailReserved' || data['user_id'] === operation.userId) return false;
    return operation.lastTryMs - recordedAt.getTime() < takeOverAfterMs + skewMsMax;
  });
}
