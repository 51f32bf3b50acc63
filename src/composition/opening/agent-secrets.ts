import type { Config } from '../../config/config.js';
import { agentSecretNames, agentSecretProblems } from '../../config/parts/agent-secrets.js';
import { ConfigProblem } from '../../config/sources.js';
import type { Clock } from '../../kit/time/clock.js';
import {
  type AgentSecrets,
  makeAgentSecrets,
  makeFixedAgentSecrets,
} from '../../keys/codes/agent-secrets.js';
import type { Log } from '../../log.js';

/** Opens the secrets of the agents (docs/agents.md#change-the-secret). @throws ConfigProblem */
export function openAgentSecrets({
  config,
  clock,
  log,
}: {
  readonly config: Pick<Config, 'secret' | 'isInFile'>;
  readonly clock: Clock;
  readonly log: Log;
}): AgentSecrets {
  let reported = '';
  const load = (): readonly (string | undefined)[] => {
    const secrets = new Map(agentSecretNames.map((name) => [name, config.secret(name)]));
    const problems = agentSecretProblems(secrets);
    if (problems.length > 0) throw new ConfigProblem(problems.join('; '));
    reported = '';
    return [...secrets.values()];
  };
  if (!agentSecretNames.some(config.isInFile)) return makeFixedAgentSecrets(load());
  return makeAgentSecrets({
    ...{ load, clock },
    onProblem: (error) => {
      const problem = error instanceof ConfigProblem ? error.message : 'they could not be read';
      // Any client may present an unknown secret, which reads them again.
      if (problem === reported) return;
      reported = problem;
      log.logger.error({ problem }, 'the agent secrets were not read again; the old ones stay');
    },
  });
}
