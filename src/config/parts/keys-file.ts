import type { Environment } from '../sources.js';

/** Returns what is wrong with `KEYS_FILE`: embedded stores have their keys in `DATA_DIR`, and backups copy them from there. */
export function keysFileProblems(environment: Environment): readonly string[] {
  const { KEYS_FILE: file, EVENTSTOREDB_URL: log, MONGODB_URL: documents } = environment;
  return file === undefined || log !== undefined || documents !== undefined
    ? []
    : [
        'KEYS_FILE needs EVENTSTOREDB_URL or MONGODB_URL; embedded stores have their keys in keys.json of DATA_DIR',
      ];
}
