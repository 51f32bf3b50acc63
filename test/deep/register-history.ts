import type { CommandContext } from '../../src/event-sourcing/command-handler.js';
import type { StoredEvent } from '../../src/event-sourcing/domain-event.js';
import { takeOverAfterMs } from '../../src/commands/address-reservations.js';
import type { Tally } from './register-simulation.js';

/** One client's wish to register the address: one command, tried once or more often. */
export interface Operation {
  readonly name: string;
  readonly context: CommandContext;
  readonly userId: string;
  readonly startedAt: number;
  /** The step at which the client had its answer; infinite while it has none. */
  endedAt: number;
  outcome: 'success' | 'taken' | 'unknown';
  /** When the process began that gave the answer, ms. */
  lastTryMs: number;
  /** A process that the client no longer waited for may still be at work. */
  doubled: boolean;
}

/** What happened in a schedule. */
export interface History {
  readonly operations: readonly Operation[];
  readonly log: readonly StoredEvent[];
  /** How far the processes' clocks are off at most. */
  readonly skewMsMax: number;
  /** No faults, no skew, no long pause: then exactly one must succeed. */
  readonly undisturbed: boolean;
}

export function registeredUsers(log: readonly StoredEvent[]): readonly string[] {
  return log
    .filter(({ type }) => type === 'UserRegistered')
    .map(({ stream }) => stream.slice('user-'.length));
}

/**
 * What is wrong with a history, or null. The address is a register that can be written once (linearizable: Herlihy and
 * Wing, 1990): a success writes it. A client that is refused must find it written, or be in another's way: that
 * other's reservation was younger than the take-over time, or the client itself was given up.
 */
export function judge(history: History, tally: Tally): string | null {
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
  if (undisturbed && successes.length !== 1) return 'nobody was disturbed, and not exactly one has succeeded';
  const [owner] = owners;
  if (owner === undefined) return null;
  const holder = log.findLast(({ type }) => type === 'EmailReserved')?.data['user_id'];
  if (holder !== owner) return 'the address is not reserved for its user';
  const winner = operations.find(({ userId }) => userId === owner);
  if (winner === undefined) return 'a user whom nobody registered';
  const misled = winner.outcome === 'taken' && !winner.doubled;
  return misled ? 'the one who registered was told that it is taken' : null;
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
