import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The reply of a name server to a name: addresses of IPv4, a code of RFC 1035, section 4.1.1, or none at all. */
export type NameReply = readonly string[] | 'no such name' | 'server failure' | 'silence';

const codes = { 'no such name': 3, 'server failure': 2 } as const;

/** A name server over UDP that answers what a test says. It counts the questions by name and type. */
export async function startNameServer(reply: (name: string) => NameReply) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    asked.push(`${name} ${type === 1 ? 'A' : 'AAAA'}`);
    const found = reply(name);
    if (found === 'silence') return;
    const addresses = typeof found === 'string' || type !== 1 ? [] : found;
    const code = typeof found === 'string' ? codes[found] : 0;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt16BE(0, 8);
    header.writeUInt16BE(0, 10);
    const answers = addresses.map((ip) =>
      // The name of the question, type A, class IN, a life of 0 s, four bytes.
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, question.subarray(12, end), ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  return {
    server: `127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        socket.close(() => {
          resolve();
        });
      }),
  };
}

function readQuestion(message: Buffer): {
  readonly name: string;
  readonly type: number;
  readonly end: number;
} {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}
