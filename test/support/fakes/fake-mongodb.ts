import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import { BSON, type Document } from 'mongodb';

/** The server's reaction to a command: a reply, silence, a reply when the test thaws the server, or a reset. */
export type FakeReply = Document | 'silent' | 'frozen' | 'reset';

/** A server that speaks enough of MongoDB's wire protocol to answer as a test's script says. */
interface FakeMongoDb {
  readonly url: string;
  /** The commands received after the handshake, in order. */
  readonly received: Document[];
  /** Answers every command except the handshake. */
  script: (command: Document) => FakeReply;
  /** The connections on which a command arrived so far. */
  readonly connectionsUsed: () => number;
  /** Answers the commands that the script left frozen, by the present script. */
  readonly thaw: () => void;
  readonly close: () => Promise<void>;
}

/** The reply to a `find` without results. */
export const nothingFound: Document = { ok: 1, cursor: { id: 0n, ns: 'stowage.any', firstBatch: [] } };

const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;
const headerBytes = 16;

/** A server refuses a command beyond the largest document and 16 KiB (MongoDB manual, "MongoDB Limits"). */
const commandBytesMax = 16_777_216 + 16_384;
const tooLarge: Document = { ok: 0, code: 10_334, codeName: 'BSONObjectTooLarge', errmsg: 'too large' };

/**
 * Starts a fake server. It speaks OP_QUERY and OP_REPLY for the first handshake, then OP_MSG (MongoDB manual, "Wire
 * Protocol").
 */
export async function makeFakeMongoDb(hello: Document = {}): Promise<FakeMongoDb> {
  const sockets = new Set<Socket>();
  const used = new Set<Socket>();
  let frozen: (readonly [Socket, Buffer])[] = [];
  const handshake = {
    ok: 1,
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    minWireVersion: 0,
    maxWireVersion: 17,
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    ...hello,
  };

  function answer(socket: Socket, message: Buffer): void {
    const command = commandOf(message);
    const isHandshake = 'hello' in command || 'ismaster' in command || 'isMaster' in command;
    if (!isHandshake) {
      server.received.push(command);
      used.add(socket);
    }
    respond(socket, message, command, isHandshake);
  }

  function respond(socket: Socket, message: Buffer, command: Document, isHandshake: boolean): void {
    const isQuery = message.readInt32LE(12) === opQuery;
    const isTooLarge = message.length > commandBytesMax;
    const reply = isHandshake ? handshake : isTooLarge ? tooLarge : server.script(command);
    if (reply === 'frozen') frozen.push([socket, message]);
    if (reply === 'silent' || reply === 'frozen') return;
    if (reply === 'reset') socket.resetAndDestroy();
    else socket.write(isQuery ? replyMessage(message, reply) : msgMessage(message, reply));
  }

  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let buffered = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 4 && buffered.length >= buffered.readInt32LE(0)) {
        const length = buffered.readInt32LE(0);
        answer(socket, buffered.subarray(0, length));
        buffered = buffered.subarray(length);
      }
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');

  const server: FakeMongoDb = {
    url: `mongodb://127.0.0.1:${address.port}/`,
    received: [],
    connectionsUsed: () => used.size,
    thaw: () => {
      const thawed = frozen;
      frozen = [];
      for (const [socket, message] of thawed)
        if (!socket.destroyed) respond(socket, message, commandOf(message), false);
    },
    script: (command) => ('find' in command ? nothingFound : { ok: 1, n: 1 }),
    close: async () => {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return server;
}

function commandOf(message: Buffer): Document {
  const isQuery = message.readInt32LE(12) === opQuery;
  return isQuery ? queryCommand(message) : BSON.deserialize(message.subarray(headerBytes + 5));
}

/** Parses the document of an OP_QUERY. It follows the flags, the collection's name with its NUL, and two counts. */
function queryCommand(message: Buffer): Document {
  const name = headerBytes + 4;
  return BSON.deserialize(message.subarray(message.indexOf(0, name) + 1 + 8));
}

function replyMessage(request: Buffer, reply: Document): Buffer {
  const fields = Buffer.alloc(20);
  fields.writeInt32LE(1, 16);
  return framed(request, opReply, Buffer.concat([fields, BSON.serialize(reply)]));
}

function msgMessage(request: Buffer, reply: Document): Buffer {
  return framed(request, opMsg, Buffer.concat([Buffer.alloc(5), BSON.serialize(reply)]));
}

function framed(request: Buffer, opCode: number, body: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeInt32LE(headerBytes + body.length, 0);
  header.writeInt32LE(request.readInt32LE(4), 8);
  header.writeInt32LE(opCode, 12);
  return Buffer.concat([header, body]);
}
