import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the secrets of agents in a directory, as the settings of a service, and how to replace their text at once. */
export function makeAgentSecretFiles(directory: string) {
  const current = join(directory, 'agent-secret');
  const previous = join(directory, 'agent-secret-previous');
  return {
    ...{ current, previous },
    environment: { NODE_AGENT_SECRET_FILE: current, NODE_AGENT_SECRET_PREVIOUS_FILE: previous },
    write: (path: string, secret: string): void => {
      writeFileSync(`${path}.new`, `${secret}\n`);
      renameSync(`${path}.new`, path);
    },
  };
}
