import { fstatSync, write, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** Lines that wait for a slow output have at most this many characters; further ones are lost. */
const waitingMax = 1_048_576;

/**
 * Makes the end of the log: it takes lines, never throws and never waits. Lines that it cannot write are lost and counted.
 * @param lostLine makes the line that tells how many lines were lost
 */
export function makeLogOutput(fd: 1 | 2, lostLine: (lost: number) => string) {
  const sink = openSink(fd);
  let waiting = '';
  let lost = 0;
  let isSending = false;
  let whenSettled: (() => void)[] = [];

  return {
    /** Takes whole lines. */
    write: (lines: string) => {
      if (waiting.length + lines.length > waitingMax) lost += countLines(lines);
      else waiting += lines;
      if (waiting !== '') send();
    },
    /** Tells the count of lost lines, where the output takes lines again. */
    tell: () => {
      if (lost > 0) send();
    },
    /** Resolves when no line waits. It does not resolve while nothing reads the output. */
    settled: () =>
      new Promise<void>((resolve) => {
        whenSettled.push(resolve);
        settle();
      }),
    /** Writes the waiting lines at the end of the process. It loses them where nothing reads the output. */
    finish: () => {
      if (waiting !== '' && sink.isFree()) writeAtOnce(fd, waiting);
      waiting = '';
    },
  };

  function send(): void {
    if (isSending) return;
    const told = lost;
    const lines = waiting;
    lost = 0;
    waiting = '';
    isSending = true;
    sink.send(told > 0 ? lostLine(told) + lines : lines, (isWritten) => {
      isSending = false;
      if (!isWritten) lost += told + countLines(lines);
      if (waiting !== '') send();
      settle();
    });
  }

  function settle(): void {
    if (isSending || waiting !== '') return;
    for (const resolve of whenSettled) resolve();
    whenSettled = [];
  }
}

/** A way to write to an output. The caller has at most one text under way. */
interface Sink {
  /** Calls back when the text is written, or when its rest cannot be written. */
  send(text: string, done: (isWritten: boolean) => void): void;
  /** Returns whether a text may be written at once without mixing it with the text under way. */
  isFree(): boolean;
}

function openSink(fd: 1 | 2): Sink {
  const kind = fstatSync(fd);
  return kind.isFIFO() || kind.isSocket() ? openPipe(fd) : openFile(fd);
}

/** Streams whose errors are handled. Each log that a test makes would otherwise add a listener. */
const guarded = new Set<Writable>();

/**
 * Writes to a pipe through Node's stream, which never blocks a thread. A thread that waits for a reader would keep the
 * process from ending, because Node joins its threads.
 */
function openPipe(fd: 1 | 2): Sink {
  const stream = fd === 1 ? process.stdout : process.stderr;
  // Without a listener the error of a closed pipe would end the process.
  if (!guarded.has(stream)) stream.on('error', () => undefined);
  guarded.add(stream);
  return {
    send: (text, done) => {
      stream.write(text, (error) => done(error === undefined || error === null));
    },
    isFree: () => stream.writableLength === 0 && !stream.destroyed,
  };
}

/** Writes to a file in the background, so that a slow disk delays no request. A full disk may have space again later. */
function openFile(fd: 1 | 2): Sink {
  /** Whether the last text ended within a line. */
  let isTorn = false;
  return {
    send: (text, done) => {
      const bytes = Buffer.from(isTorn ? `\n${text}` : text);
      const next = (from: number): void => {
        write(fd, bytes, from, (error, count) => {
          if (error === null && from + count < bytes.length) {
            next(from + count);
            return;
          }
          isTorn = error === null ? false : isTorn || from > 0;
          done(error === null);
        });
      };
      next(0);
    },
    // The write under way ends before the process does.
    isFree: () => true,
  };
}

/** Writes as much as the output takes without waiting. */
function writeAtOnce(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let from = 0; from < bytes.length;) from += writeSync(fd, bytes, from);
  } catch {
    // The process ends, so no later line can tell of these.
  }
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}
