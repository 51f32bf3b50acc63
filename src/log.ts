import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { traceField } from './kit/trace.js';
import { makeLogOutput } from './log-output.js';
import { printable } from './validation/text.js';

const levelNames: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/**
 * Returns a JSON line of the log as text for a person: the time of the day, the level, the message, and the fields. A field that
 * is no plain word stays JSON. Control characters are escaped.
 */
export function lineForEyes(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${printed(value)}`);
  const clock = new Date(String(time)).toISOString().slice(11, 23);
  const head = [clock, (levelNames[Number(level)] ?? String(level)).padEnd(5), String(msg)];
  return `${printable([...head, ...rest].join(' '))}\n`;
}

function printed(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** pino's function makes the text for each line. A busy process writes several lines a millisecond. */
function makeIsoTime(): () => string {
  let [ofMs, text] = [Number.NaN, ''];
  return () => {
    const nowMs = Date.now();
    if (nowMs !== ofMs) [ofMs, text] = [nowMs, `,"time":"${new Date(nowMs).toISOString()}"`];
    return text;
  };
}

export interface Log {
  readonly logger: Logger;
  /** Writes the buffer, and later lines directly. Resolves within 1 s, because the reader of the output may be gone. */
  flush(): Promise<void>;
}

const flushIntervalMs = 500;
const flushLimitMs = 1_000;
/** The buffer is written when it has this many characters. */
const blockLength = 4_096;

/** Functions that write the buffers at the process's end. One listener serves all logs, because tests make many. */
const unflushed = new Set<() => void>();
function flushAll(): void {
  for (const end of unflushed) end();
}
process.on('beforeExit', flushAll);
process.on('exit', flushAll);

/**
 * Makes the log: JSON lines on standard output; a command writes to standard error, because standard output carries its
 * result. It writes in blocks, so that a request does not wait. Each call logs named fields only, so nothing is
 * redacted. The exception is mails, which only a development start logs (src/mail/mailer.ts).
 * @param options.forEyes writes a line of text in place of JSON, for a person at a terminal
 */
export function makeLog(
  level: string,
  to: 'stdout' | 'stderr' = 'stdout',
  { forEyes = false }: { readonly forEyes?: boolean } = {},
): Log {
  let lostLine = '';
  const output = makeLogOutput(to === 'stdout' ? 1 : 2, (lost) => {
    report.warn({ lost }, 'lines of this log were lost, because it could not be written');
    return lostLine;
  });
  const options = { level, base: null, timestamp: makeIsoTime() };
  /** Formats the line about lost lines, which does not pass through the block. Every level but `silent` has it. */
  const report = pino(
    { ...options, level: level === 'silent' ? 'silent' : 'warn' },
    {
      write: (line) => {
        lostLine = forEyes ? lineForEyes(line) : line;
      },
    },
  );
  let block = '';
  let gathers = true;
  const passOn = (): void => {
    if (block !== '') output.write(block);
    block = '';
  };
  const lines = {
    write: (line: string): void => {
      block += forEyes ? lineForEyes(line) : line;
      // After the flush a line may still wait for the one before it.
      if (!gathers) unflushed.add(end);
      if (!gathers || block.length >= blockLength) passOn();
    },
  };
  /** Writes the waiting lines at once. */
  const end = (): void => {
    gathers = false;
    clearInterval(flushing);
    unflushed.delete(end);
    passOn();
    output.finish();
  };
  const flush = async (): Promise<void> => {
    gathers = false;
    passOn();
    const limit = new AbortController();
    await Promise.race([output.settled(), wait(flushLimitMs, undefined, { signal: limit.signal })]);
    limit.abort();
    end();
  };
  const flushing = setInterval(() => {
    passOn();
    output.tell();
  }, flushIntervalMs);
  flushing.unref();
  unflushed.add(end);
  return { logger: pino({ ...options, mixin: traceField }, lines), flush };
}
