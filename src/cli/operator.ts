import type { Config } from '../config.js';
import { callControl } from '../control/control-client.js';
import { makeOperationRunner } from '../control/operation.js';
import { type ControlReply, type ControlRequest, controlSocketPath } from '../control/protocol.js';

/** Sends a request. @param answerMsMax time limit for a running service's reply in ms; a minute by default */
export type Ask = (request: ControlRequest, answerMsMax?: number) => Promise<ControlReply>;

interface Opened {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** Calls the work with a function that asks the running service, or opens the stores here at the first request. */
export async function withOperator(config: Config, work: (ask: Ask) => Promise<void>): Promise<void> {
  const opened: Opened[] = [];
  try {
    await work(async (request, answerMsMax) => {
      const [here] = opened;
      if (here !== undefined) return here.ask(request);
      const reply = await callControl(controlSocketPath(config.dataDirectory), request, answerMsMax);
      if (reply !== null) return reply;
      const made = await openHere(config);
      opened.push(made);
      return made.ask(request);
    });
  } finally {
    for (const here of opened) await here.close();
  }
}

async function openHere(config: Config): Promise<Opened> {
  // These modules load only here, because a command that a running service carries out needs none of them.
  const { openServices } = await import('../composition/services.js');
  const { makeOperations } = await import('../control/operations/index.js');
  const { sentenceOf } = await import('../composition/sentence-of.js');
  const { makeLog } = await import('../log.js');
  const services = await openServices(config, { log: makeLog(config.logLevel, 'stderr') });
  try {
    await services.generations.start();
  } catch (error) {
    await services.close();
    throw error;
  }
  const ask = makeOperationRunner(makeOperations(services), (operation, error) => {
    services.log.logger.error({ operation, error: sentenceOf(error) }, 'an operation failed');
  });
  return { ask, close: services.close };
}
