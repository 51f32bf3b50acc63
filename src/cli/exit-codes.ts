import { StoreDamaged, StoreUnavailable, UndecodableEvent } from '../event-sourcing/ports/errors.js';
import { type Config, ConfigProblem } from '../config/config.js';
import { FolderProblem } from '../areas/audit/signing/checkpoint-folder.js';
import { ExportProblem } from '../areas/audit/history/export.js';
import { ReplayProblem } from '../areas/audit/tree/log-until.js';
import { KeyProblem } from '../keys/sealing/errors.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Refuses a data directory without the embedded stores that the configuration names. Only `serve` makes a data
 * directory: a command with a mistyped DATA_DIR must not work on an empty one. @throws ConfigProblem
 */
export function requireData(config: Pick<Config, 'dataDirectory' | 'eventStoreDbUrl' | 'mongoDbUrl'>): void {
  const { dataDirectory, eventStoreDbUrl, mongoDbUrl } = config;
  const files = [
    ...(eventStoreDbUrl === undefined ? ['events.db'] : []),
    ...(mongoDbUrl === undefined ? ['state.db'] : []),
  ];
  const missing = files.filter((file) => !existsSync(join(dataDirectory, file)));
  if (missing.length === 0) return;
  const what = existsSync(dataDirectory) ? `has no ${missing.join(' and no ')}` : 'does not exist';
  throw new ConfigProblem(
    `the data directory ${dataDirectory} ${what}; set DATA_DIR to the service's directory, or start the service once (stowage serve)`,
  );
}

/** Returns whether the message of the error is a sentence for the operator. */
export function isExplained(error: unknown): error is Error {
  return (
    error instanceof ConfigProblem ||
    error instanceof KeyProblem ||
    error instanceof FolderProblem ||
    error instanceof ExportProblem ||
    error instanceof ReplayProblem ||
    error instanceof StoreUnavailable ||
    error instanceof StoreDamaged ||
    error instanceof UndecodableEvent ||
    isOfSystem(error)
  );
}

/** The system names what it refused, and the path or address, for example "EACCES: permission denied, mkdir '/backups'". */
function isOfSystem(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

/**
 * The exit codes of the commands (docs/operate.md#commands); 75 is EX_TEMPFAIL of sysexits(3). `serve` ends with 0 or 1,
 * because a supervisor starts it again after any other end.
 */
export const exitCodes = { done: 0, failed: 1, usage: 2, temporary: 75 } as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The refusals that the same command may survive later: the service or a store did not answer. */
const temporary: ReadonlySet<string> = new Set([
  ...['store_unavailable', 'overloaded', 'outcome_unknown', 'no_answer'],
]);

/** Returns the exit code for an operation that was refused. @param code of `OperatorReply` */
export function exitCodeOfRefusal(code: string): ExitCode {
  if (code === 'invalid_request') return exitCodes.usage;
  return temporary.has(code) ? exitCodes.temporary : exitCodes.failed;
}

/** Returns the exit code for a command that ended with an error. */
export function exitCodeOfError(error: unknown): ExitCode {
  return error instanceof StoreUnavailable ? exitCodes.temporary : exitCodes.failed;
}
