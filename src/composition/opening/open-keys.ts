import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Background } from '../../kit/background.js';
import { Overloaded } from '../../kit/semaphore.js';
import type { Config } from '../../config/config.js';
import { type Clock, type Random, backoff } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { type KeyCanaries, canaryRecord } from '../../keys/rings/key-canaries.js';
import { removeLeftovers } from '../../keys/rings/key-file.js';
import {
  type KeySettings,
  ensureKeyFile,
  makeKeyRings,
  makeLoadKeys,
  readKeySettings,
} from '../../keys/rings/key-rings.js';
import type { Log } from '../../log.js';
import type { Stores } from './open-stores.js';
import { sentenceOf } from '../starting.js';
import { agentSecretNames, agentSecretProblems } from '../../config/parts/agent-secrets.js';
import { ConfigProblem } from '../../config/sources.js';
import {
  type AgentSecrets,
  makeAgentSecrets,
  makeFixedAgentSecrets,
} from '../../keys/codes/agent-secrets.js';

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

/**
 * Opens the rings of keys. Processes that share a store read their keys from settings or from `KEYS_FILE`, and change
 * neither.
 * @param deps.onReload runs after each reading of the keys
 * @throws KeyProblem, StoreUnavailable
 */
export async function openKeys(deps: {
  readonly config: Pick<Config, 'dataDirectory' | 'keysFile' | 'secret'>;
  readonly stores: Pick<Stores, 'allEmbedded' | 'eventStore' | 'stateStore'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onReload: (changed: boolean) => void;
}) {
  const { config, stores, clock, log, onReload } = deps;
  /** Null where the process owns no data directory and every key is set. */
  const keyFile = stores.allEmbedded ? join(config.dataDirectory, 'keys.json') : null;
  const settings = (): KeySettings => readKeySettings(config.secret);
  if (keyFile !== null) {
    removeLeftovers(keyFile);
    const { eventStore, stateStore } = stores;
    const hasData = (await eventStore.head()) !== null || (await stateStore.get(canaryRecord)) !== null;
    ensureKeyFile({ path: keyFile, settings: settings(), hasData, randomBytes });
  }
  const keyRings = makeKeyRings({
    load: makeLoadKeys({ settings, keyFile: keyFile ?? config.keysFile ?? null }),
    clock,
    onReload,
    onProblem: (problem) => log.logger.error({ problem }, 'the keys were not read again'),
  });
  return { keyRings, keyFile, settings };
}

/**
 * Checks keys and data. A store that is away delays the check until `waiting` aborts; without it, that is an error.
 * @throws as `KeyCanaries.check`
 */
export async function checkKeys(
  keyCanaries: Pick<KeyCanaries, 'check'>,
  deps: {
    readonly sleep: Clock['sleep'];
    readonly random: Random;
    readonly waiting?: AbortSignal | undefined;
  },
): Promise<void> {
  const { sleep, random, waiting } = deps;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await keyCanaries.check();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || waiting === undefined || waiting.aborted) throw error;
      await sleep(backoff(attempt, random, { first: 250, cap: 5_000 }), waiting).catch(() => undefined);
    }
  }
}

/** Keeps the canaries in step with rings that change. */
export function followKeys(
  keyCanaries: Pick<KeyCanaries, 'follow'>,
  { background, log }: { readonly background: Background; readonly log: Log },
) {
  let isBehind = false;
  const follow = async (): Promise<void> => {
    isBehind = false;
    try {
      await keyCanaries.follow();
    } catch (error) {
      isBehind = true;
      log.logger.error({ error: sentenceOf(error) }, 'the changed keys could not be noted with the data');
    }
  };
  return {
    /** Resolves when the canaries follow the rings, or the failure is logged. The next reading then tries again. */
    follow,
    /** Call it after each reading of the keys. */
    reloaded: (changed: boolean) => {
      if (!changed && !isBehind) return;
      try {
        background.start('noting changed keys', follow);
      } catch (error) {
        if (!(error instanceof Overloaded)) throw error;
        isBehind = true;
      }
    },
  };
}
