import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openReader } from '../files/database.js';
import { type FileFailure, failureOf } from '../files/failures.js';
import { readModelsFormat } from '../files/formats.js';
import { checkReadModels } from './read-model-scrub.js';

/** Whether further slices follow, or why the check ended early. */
export type ScrubReply = 'more' | 'whole' | FileFailure;

/** The thread checks one slice of read-models.db for each message, on a connection that no other thread waits for. */
const port = parentPort as MessagePort;
const connection = openReader(workerData as string);
const slices = checkReadModels(connection);

port.on('message', () => {
  const reply = checkNext();
  port.postMessage(reply);
  if (reply === 'more') return;
  connection.close();
  port.close();
});

function checkNext(): ScrubReply {
  try {
    return slices.next().done === true ? 'whole' : 'more';
  } catch (error) {
    const failure = failureOf(error, readModelsFormat);
    if (failure === null) throw error;
    return failure;
  }
}
