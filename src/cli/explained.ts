import { ConfigProblem } from '../config.js';
import { StoreDamaged, StoreUnavailable } from '../event-sourcing/ports/errors.js';
import { FolderProblem } from '../audit/checkpoint-folder.js';
import { ExportProblem } from '../audit/export.js';
import { ReplayProblem } from '../audit/log-until.js';
import { KeyProblem } from '../keys/errors.js';

/** Returns whether the message of the error is a sentence for the operator. */
export function isExplained(error: unknown): error is Error {
  return (
    error instanceof ConfigProblem ||
    error instanceof KeyProblem ||
    error instanceof FolderProblem ||
    error instanceof ExportProblem ||
    error instanceof ReplayProblem ||
    error instanceof StoreUnavailable ||
    error instanceof StoreDamaged
  );
}
