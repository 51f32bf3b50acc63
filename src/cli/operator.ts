import { connect } from 'node:net';
import { type Config, ConfigProblem } from '../config/config.js';
import {
  callOperator,
  isUnserved,
  type OperatorReply,
  type OperatorRequest,
} from '../operating/socket/client.js';
import { connectWithin, controlSocketPath, pathBytesMax } from '../operating/socket/listen.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import { requireData } from './exit-codes.js';

/** Sends a request. @param answerMsMax time limit for a running service's reply in ms; a minute by default */
export type Ask = (request: OperatorRequest, answerMsMax?: number) => Promise<OperatorReply>;

const usualMs = 60_000;

interface Opened {
  readonly ask: Ask;
  close(): Promise<void>;
}

/**
 * Calls the work with a function that asks the running service, or opens the stores here at the first request. A service
 * that has answered and then ends may start again at once, so it finds its directory free.
 * @throws ConfigProblem where the data directory has no stores; StoreUnavailable, StoreDamaged, KeyProblem
 */
export async function withOperator(config: Config, work: (ask: Ask) => Promise<void>): Promise<void> {
  const opened: Opened[] = [];
  let isServed = false;
  try {
    await work(async (request, answerMsMax) => {
      const [here] = opened;
      if (here !== undefined) return here.ask(request);
      const reply = await askService(config, request, answerMsMax);
      if (reply !== null) {
        isServed = true;
        return reply;
      }
      if (isServed) throw new StoreUnavailable('the service has ended; run the command again when it runs');
      requireData(config);
      const made = await openHere(config);
      opened.push(made);
      return made.ask(request);
    });
  } finally {
    for (const here of opened) await here.close();
  }
}

/** Asks the running service; null if none listens. @throws ConfigProblem where this user may not ask it */
async function askService(
  { dataDirectory }: Config,
  request: OperatorRequest,
  answerMsMax = usualMs,
): Promise<OperatorReply | null> {
  const path = controlSocketPath(dataDirectory);
  if (Buffer.byteLength(path) > pathBytesMax) {
    throw new ConfigProblem(
      `the path of the control socket is too long: ${path}; run the command in ${dataDirectory}, or choose a shorter DATA_DIR`,
    );
  }
  try {
    return await callOperator(() => connect(path), request, answerMsMax);
  } catch (error) {
    if (isUnserved(error)) return null;
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === null) throw error;
    if (code === 'EACCES' || code === 'EPERM') {
      throw new ConfigProblem(
        `${path} may not be opened (${code}); run the command as the user of the service`,
        {
          cause: error,
        },
      );
    }
    throw new StoreUnavailable(`the service cannot be reached through ${path} (${code})`, { cause: error });
  }
}

async function openHere(config: Config): Promise<Opened> {
  // These modules load only here, because a command that a running service carries out needs none of them.
  const { openServices } = await import('../composition/services.js');
  const { makeOperators } = await import('../composition/operators.js');
  const { makeLog } = await import('../log.js');
  const services = await openServices(config, { log: makeLog(config.logLevel, 'stderr') });
  try {
    await services.generations.start();
  } catch (error) {
    await services.close();
    throw error;
  }
  const { statusWithoutService } = await import('../composition/status.js');
  const handler = makeOperators(services, {
    status: () => statusWithoutService(services),
    // A person reads this log, who knows what was asked.
    logger: services.log.logger.child({}, { level: 'warn' }),
  });
  const open = connectWithin(handler);
  return { ask: (request) => callOperator(open, request), close: services.close };
}
