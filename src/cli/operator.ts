import type { Config } from '../config.js';
import { callControl } from '../control/control-client.js';
import { makeOperationRunner } from '../control/operations.js';
import { type ControlReply, type ControlRequest, controlSocketPath } from '../control/protocol.js';

/** @param answerMsMax how long a running service's answer is waited for, in ms; a minute when left out */
export type Ask = (request: ControlRequest, answerMsMax?: number) => Promise<ControlReply>;

interface Opened {
  readonly ask: Ask;
  close(): Promise<void>;
}

/** Gives the work somebody to ask: the running service, or where none runs the stores, opened here at the first request. */
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
  // Loaded only here: a command that a running service carries out needs none of it.
  const { openServices } = await import('../composition/services.js');
  const { makeOperations } = await import('../composition/operations.js');
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
