import { accessSync, constants } from 'node:fs';
import { type Config, ConfigProblem } from '../../config/config.js';
import {
  type ConnectionPolicy,
  type ConnectionSettings,
  isReadableByOthers,
  parseConnectionString,
} from '../../stores/eventstoredb/connection-string.js';
import { mongoDbProblems, mongoDbWarnings } from '../../stores/mongodb/connection-string.js';

/** The other settings that decide whether EVENTSTOREDB_URL is acceptable. */
export function eventStoreDbPolicy(config: Config): ConnectionPolicy {
  return {
    debug: config.debug,
    production: config.production,
    allowInsecureNetwork: config.eventStoreDbAllowInsecure,
  };
}

/**
 * Checks the connection strings before a server is called.
 * @returns what an operator should know of connections that work, in sentences
 * @throws ConfigProblem naming every problem of both
 */
export function checkConnections(config: Config): readonly string[] {
  const found = [eventStoreDb(config), mongoDb(config)];
  const problems = found.flatMap(({ problems: some }) => some);
  if (problems.length > 0) throw new ConfigProblem(problems.join('\n'));
  return found.flatMap(({ warnings }) => warnings);
}

interface Findings {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

function eventStoreDb(config: Config): Findings {
  if (config.eventStoreDbUrl === undefined) return { problems: [], warnings: [] };
  const parsed = parseConnectionString(config.eventStoreDbUrl, eventStoreDbPolicy(config));
  const problems = 'problems' in parsed ? parsed.problems : unreadable(parsed.settings.tlsCAFile);
  return {
    problems: problems.map((problem) => `EVENTSTOREDB_URL ${problem}`),
    warnings: 'problems' in parsed ? [] : eventStoreDbWarnings(parsed.settings),
  };
}

function eventStoreDbWarnings(settings: ConnectionSettings): readonly string[] {
  const warnings: string[] = [];
  if (!settings.tls && settings.credentials !== null) {
    warnings.push(
      'EVENTSTOREDB_URL has a user and a password that protect nothing: a server without TLS does not check them, and ' +
        'others on the network can read them; remove them, or use TLS',
    );
  }
  if (isReadableByOthers(settings)) {
    warnings.push(
      'EVENTSTOREDB_URL leads beyond this machine without TLS: others on the network can read and change all data; remove tls=false',
    );
  }
  return warnings;
}

function mongoDb({ mongoDbUrl }: Config): Findings {
  if (mongoDbUrl === undefined) return { problems: [], warnings: [] };
  return {
    problems: mongoDbProblems(mongoDbUrl).map((problem) => `MONGODB_URL ${problem}`),
    warnings: mongoDbWarnings(mongoDbUrl),
  };
}

function unreadable(file: string | null): readonly string[] {
  if (file === null) return [];
  try {
    accessSync(file, constants.R_OK);
    return [];
  } catch {
    return ['has tlsCAFile, which names a file that cannot be read; check the path and its rights'];
  }
}
