import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { makeEventWriter } from '../log/event-writer.js';
import { type FileFailure, failureOf } from '../files/failures.js';
import { type TransactionOutcome, makeIntercept, makeTransactions } from './transactions.js';
import { eventsFormat, type FileFormat, readModelsFormat, stateFormat } from '../files/formats.js';
import { type HighWaterMark, openHighWaterMark } from '../files/high-water-mark.js';
import { emptyLog, clearOpenFlag, setOpenFlag, openWriter } from '../files/prepare-file.js';
import { makeReadModelWriter } from '../documents/read-model-writer.js';
import { makeStateWriter } from './state-writer.js';
import type { FileAndPort, FileToWrite, FromThread, ToThread } from './group-writer.js';

/**
 * The thread owns the only writing connections of a data directory. A message opens a file. The thread then answers the batches
 * of all files, one after another. The message `null` ends it.
 */
const formats = { events: eventsFormat, 'read-models': readModelsFormat, state: stateFormat };
/** The version that state.db has durably reached; 0 where the state is elsewhere. The log notes it. */
let stateEnd = 0;

(parentPort as MessagePort).on('message', (opening: FileAndPort | null) => {
  if (opening === null) process.exit();
  const { file, port } = opening;
  const post = (message: FromThread<unknown>): void => port.postMessage(message);
  try {
    serve(file, port, post);
    post({ kind: 'opened' });
  } catch (error) {
    const failure = openingFailure(error, formats[file.name]);
    if (failure === null) throw error;
    post({ kind: 'refused', failure });
    port.close();
  }
});

function serve(file: FileToWrite, port: MessagePort, post: (message: FromThread<unknown>) => void): void {
  const { name, path, pageCountMax, faults } = file;
  const format = formats[name];
  const connection = openWriter(path, format);
  if (pageCountMax !== undefined) connection.execute(`PRAGMA max_page_count = ${pageCountMax}`);
  let mark: HighWaterMark | null = null;
  const run = runnerOf(file, {
    connection,
    format,
    openMark: (end) => {
      const opened = openHighWaterMark(`${path}.mark`, format, end);
      return (mark = name === 'state' ? noted(opened, end) : opened);
    },
    intercept: makeIntercept(faults.filter((fault) => fault.file === name)),
  });
  let isNoted = setOpenFlag(connection, format);
  let [usable, closing] = [true, false];
  port.on('message', (message: ToThread<never>) => {
    if (message.kind === 'close') closing = true;
    else if (usable) {
      isNoted ||= setOpenFlag(connection, format);
      const outcome = run(message.requests, nextPiece);
      // After a disk failure or damage the thread drops the batches already sent and does not access the file again.
      usable = outcome.kind === 'committed' || !['io', 'damaged'].includes(outcome.failure.kind);
      post(outcome);
    }
    if (closing) close();
  });

  function nextPiece(): readonly never[] {
    const received = receiveMessageOnPort(port) as { message: ToThread<never> } | undefined;
    if (received?.message.kind === 'piece') return received.message.requests;
    if (received !== undefined) closing = true;
    return [];
  }

  function close(): void {
    clearOpenFlag(connection, format);
    emptyLog(connection);
    connection.close();
    mark?.close();
    port.close();
  }
}

/** Lets the log know how far state.db is: the mark rises when a commit is durable. */
function noted(opened: HighWaterMark, end: number): HighWaterMark {
  stateEnd = end;
  return {
    ...opened,
    raise: (reached) => {
      opened.raise(reached);
      stateEnd = reached;
    },
  };
}

function runnerOf(
  { name, newLogId }: FileToWrite,
  deps: Parameters<typeof makeTransactions>[0],
): (requests: readonly never[], more: () => readonly never[]) => TransactionOutcome<unknown> {
  switch (name) {
    case 'events':
      return makeTransactions(deps, (...made) => makeEventWriter(...made, newLogId, () => stateEnd));
    case 'read-models':
      return makeTransactions(deps, makeReadModelWriter);
    case 'state':
      return makeTransactions(deps, makeStateWriter);
  }
}

function openingFailure(error: unknown, format: FileFormat): FileFailure | null {
  if (error instanceof StoreUnavailable) return { kind: 'unavailable', message: error.message };
  if (error instanceof StoreDamaged) return { kind: 'damaged', message: error.message };
  return failureOf(error, format);
}
