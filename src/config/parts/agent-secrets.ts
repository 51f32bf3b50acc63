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

/** The variables with the secrets of the agents, the current one first. */
export const agentSecretNames = ['NODE_AGENT_SECRET', 'NODE_AGENT_SECRET_PREVIOUS'] as const;

/** A shorter secret of the agents could be guessed within the limit of wrong ones. */
const shortest = 16;

/** Returns what is wrong with the secrets of the agents, one sentence each (docs/configuration.md#the-service). */
export function agentSecretProblems(secrets: ReadonlyMap<string, string | undefined>): readonly string[] {
  const [current, previous] = agentSecretNames;
  const isAlone = secrets.get(previous) !== undefined && secrets.get(current) === undefined;
  return [
    ...agentSecretNames
      .filter((name) => {
        const secret = secrets.get(name);
        return secret !== undefined && Array.from(secret).length < shortest;
      })
      .map(
        (name) =>
          `${name} must have at least ${shortest} characters; \`openssl rand -base64 24\` makes a secret`,
      ),
    // Without a current secret the peer list is off, and the previous one must not turn it on.
    ...(isAlone ? [`${previous} needs ${current}; set it too, or unset ${previous}`] : []),
  ];
}
