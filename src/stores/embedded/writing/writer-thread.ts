import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { makeEventWriter } from '../log/event-writer.js';
import { type FileFailure, failureOf } from '../files/failures.js';
import { type TransactionOutcome, makeIntercept, makeTransactions } from './transactions.js';
import { eventsFormat, type FileFormat, readModelsFormat, stateFormat } from '../files/formats.js';
import { type HighWaterMark, openHighWaterMark } from '../files/high-water-mark.js';
import { emptyLog, clearOpenFlag, setOpenFlag, openWriter } from '../files/prepare-file.js';
import { makeReadModelWriter } from '../documents/read-model-writer.js';
import { makeStateWriter } from './state-writer.js';
import type { FromThread, ThreadData, ToThread } from './group-writer.js';

/** The thread owns the only writing connection of a file. It opens the file, then answers one batch after another. */
const port = parentPort as MessagePort;
const { path, file, newLogId, stateEnd, pageCountMax, faults } = workerData as ThreadData;
const formats = { events: eventsFormat, 'read-models': readModelsFormat, state: stateFormat };

try {
  serve(formats[file]);
} catch (error) {
  const failure = openingFailure(error, formats[file]);
  if (failure === null) throw error;
  post({ kind: 'refused', failure });
}

function serve(format: FileFormat): void {
  const connection = openWriter(path, format);
  if (pageCountMax !== undefined) connection.execute(`PRAGMA max_page_count = ${pageCountMax}`);
  let mark: HighWaterMark | null = null;
  const deps = {
    connection,
    format,
    openMark: (end: number) => (mark = noted(openHighWaterMark(`${path}.mark`, format, end), end)),
    intercept: makeIntercept(faults.filter((fault) => fault.file === file)),
  };
  const run = runnerOf();
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
  post({ kind: 'opened' });

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

  /** Tells the thread of the log how far state.db is: its mark rises when a commit is durable. */
  function noted(opened: HighWaterMark, end: number): HighWaterMark {
    if (file !== 'state') return opened;
    Atomics.store(stateEnd, 0, BigInt(end));
    return {
      ...opened,
      raise: (reached) => {
        opened.raise(reached);
        Atomics.store(stateEnd, 0, BigInt(reached));
      },
    };
  }

  function runnerOf(): (
    requests: readonly never[],
    more: () => readonly never[],
  ) => TransactionOutcome<unknown> {
    switch (file) {
      case 'events':
        return makeTransactions(deps, (...made) =>
          makeEventWriter(...made, newLogId, () => Number(Atomics.load(stateEnd, 0))),
        );
      case 'read-models':
        return makeTransactions(deps, makeReadModelWriter);
      case 'state':
        return makeTransactions(deps, makeStateWriter);
    }
  }
}

function openingFailure(error: unknown, format: FileFormat): FileFailure | null {
  if (error instanceof StoreUnavailable) return { kind: 'unavailable', message: error.message };
  if (error instanceof StoreDamaged) return { kind: 'damaged', message: error.message };
  return failureOf(error, format);
}

function post(message: FromThread<unknown>): void {
  port.postMessage(message);
}
