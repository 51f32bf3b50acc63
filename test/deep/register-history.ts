import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import type { StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { takeOverAfterMs } from '../../src/areas/accounts/commands/email/address-reservations.js';
import type { Tally } from './register-simulation.js';

/** The attempt of one client to register the address: one command that is sent once or repeatedly. */
export interface Operation {
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
export interface History {
  readonly operations: readonly Operation[];
  readonly log: readonly StoredEvent[];
  /** The largest skew of the processes' clocks, in milliseconds. */
  readonly skewMsMax: number;
  /** Whether there were no faults, no skew and no long pause. Then exactly one client must succeed. */
  readonly undisturbed: boolean;
}

export function registeredUsers(log: readonly StoredEvent[]): readonly string[] {
  return log
    .filter(({ type }) => type === 'UserRegistered')
    .map(({ stream }) => stream.slice('user-'.length));
}

/**
 * Returns the problem of a history, or null. The address is a register that can be written once (linearizable: Herlihy
 * and Wing, 1990), and a success writes it. A refused client must find it written, or conflict with another client:
 * that client's reservation was younger than the take-over time, or the refused client itself was abandoned.
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
