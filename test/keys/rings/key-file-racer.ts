import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { readOrMakeKeyFile } from '../../../src/keys/rings/key-file.js';

// One of several threads that make the same key file at the same moment.
const { path, gate } = workerData as { readonly path: string; readonly gate: SharedArrayBuffer };
parentPort?.postMessage('ready');
Atomics.wait(new Int32Array(gate), 0, 0);
parentPort?.postMessage(readOrMakeKeyFile(path, randomBytes));
