import { type Logger, pino } from 'pino';

export interface Log {
  readonly logger: Logger;
  /**
   * Writes what is buffered, for the end of the process: what is logged after it is not gathered any more. Resolves after a
   * second at the latest, for whoever reads the output may have stopped.
   */
  flush(): Promise<void>;
}

const flushIntervalMs = 500;
const flushLimitMs = 1_000;
/** Lines are gathered until they have so many characters. */
const blockLength = 4_096;

/** What has to be done as the process ends: one listener for all logs, since tests make many. */
const unflushed = new Set<() => void>();
function flushAll(): void {
  for (const end of unflushed) end();
}
// A destination ends itself with the process, and has to have everything by then.
process.prependListener('beforeExit', flushAll);
process.prependListener('exit', flushAll);

/**
 * The log: a line of JSON an event on standard output (of a command, whose output that is, on standard error), written in blocks so that a request does not wait for it.
 * What is logged is named field by field where it is logged; there is nothing to redact.
 */
export function makeLog(level: string, to: 'stdout' | 'stderr' = 'stdout'): Log {
  const destination = pino.destination({
    dest: to === 'stdout' ? 1 : 2,
    sync: false,
    minLength: blockLength,
  });
  // Gathered here: the destination would measure all that it has gathered again with every line.
  let block = '';
  let gathers = true;
  const passOn = (): void => {
    if (block !== '') destination.write(block);
    block = '';
  };
  const lines = {
    write: (line: string): void => {
      block += line;
      if (!gathers || block.length >= blockLength) passOn();
    },
  };
  /** Writes at once what is not being written already. That is not waited for, so it may come after, or be lost with the process. */
  const end = (): void => {
    gathers = false;
    clearInterval(flushing);
    unflushed.delete(end);
    passOn();
    destination.flushSync();
  };
  const flush = async (): Promise<void> => {
    gathers = false;
    passOn();
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, flushLimitMs);
      destination.flush(() => {
        clearTimeout(limit);
        resolve();
      });
    });
    end();
  };
  const flushing = setInterval(() => {
    passOn();
    destination.flush();
  }, flushIntervalMs);
  flushing.unref();
  unflushed.add(end);
  return { logger: pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines), flush };
}
