// Prints the first of so many ports in a row (1 when left out) that are free on loopback. Not of those that systems give to outgoing
// connections (Linux: from 32768 on), one of which could take it before it is listened on.
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
