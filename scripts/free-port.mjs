// Prints the first of several consecutive ports (default 1) that are free on loopback. It avoids the ports that systems
// give to outgoing connections (Linux: from 32768 on), because one of these could take the port first.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const count = Number(process.argv[2] ?? '1');
let first;
do first = randomInt(10_000, 32_000 - count);
while (!(await areFree()));
console.log(first);

async function areFree() {
  for (let port = first; port < first + count; port += 1) {
    if (!(await isFree(port))) return false;
  }
  return true;
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
