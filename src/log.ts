import { type Logger, pino } from 'pino';

export interface Log {
  readonly logger: Logger;
  /** Writes what is buffered, at once; for the end of the process. */
  flush(): void;
}

const flushIntervalMs = 500;

/**
 * The log: a line of JSON an event on standard output (of a command, whose output that is, on standard error), written in blocks so that a request does not wait for it.
 * What is logged is named field by field where it is logged; there is nothing to redact.
 */
export function makeLog(level: string, to: 'stdout' | 'stderr' = 'stdout'): Log {
  const destination = pino.destination({ dest: to === 'stdout' ? 1 : 2, sync: false, minLength: 4_096 });
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const flushing = setInterval(() => {
    destination.flush();
  }, flushIntervalMs);
  flushing.unref();
  return {
    logger,
    flush: () => {
      clearInterval(flushing);
      destination.flushSync();
    },
  };
}
