import { connect, type Socket } from 'node:net';
import { readLine } from './control-server.js';
import { type ControlReply, type ControlRequest, replySchema } from './protocol.js';

const usualMs = 60_000;

/**
 * Sends an operation to the running service of a data directory; null if no service listens there.
 * @param answerMsMax time limit for the reply in ms; a minute by default
 */
export async function callControl(
  path: string,
  request: ControlRequest,
  answerMsMax = usualMs,
): Promise<ControlReply | null> {
  const socket = await connectTo(path);
  if (socket === null) return null;
  try {
    socket.setTimeout(answerMsMax, () => socket.destroy());
    const line = readLine(socket);
    socket.write(`${JSON.stringify(request)}\n`);
    const answer = await line;
    if (answer === null) {
      return {
        ok: false,
        code: 'no_answer',
        message: `the service ended or gave no answer in ${answerMsMax / 1_000} s; whether the command was carried out is not known: ask again`,
      };
    }
    return replySchema.parse(JSON.parse(answer));
  } finally {
    socket.destroy();
  }
}

/**
 * Tells whether a process listens on the socket of a data directory. One that is stopped by a signal still listens.
 * @throws the system's error when the socket may not be opened
 */
export async function isServed(path: string): Promise<boolean> {
  const socket = await connectTo(path);
  socket?.destroy();
  return socket !== null;
}

function connectTo(path: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // There is no socket, or a killed service has left one.
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null);
      else reject(error);
    });
  });
}
