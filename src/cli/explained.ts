import { ConfigProblem } from '../config/config.js';
import { StoreDamaged, StoreUnavailable } from '../event-sourcing/ports/errors.js';
import { FolderProblem } from '../areas/audit/signing/checkpoint-folder.js';
import { ExportProblem } from '../areas/audit/history/export.js';
import { ReplayProblem } from '../areas/audit/tree/log-until.js';
import { KeyProblem } from '../keys/sealing/errors.js';

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
