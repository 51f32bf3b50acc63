import test from 'ava';
import fc from 'fast-check';
import { makeConnections, type OpenSocket } from '../../../src/http/server/connections.js';
import { ipBuckets } from '../../../src/security/rates/client-ip.js';

interface TestSocket extends OpenSocket {
  readonly remoteAddress: string;
  isOpen: boolean;
}

function given({ connectionsMax = 1_000, connectionsPerClientMax = 100 } = {}) {
  const connections = makeConnections<TestSocket>({
    connectionsMax,
    connectionsPerClientMax,
    clientsOf: (address = '') => ipBuckets(address),
  });
  const open = (remoteAddress: string): TestSocket => {
    const socket: TestSocket = {
      remoteAddress,
      isOpen: true,
      destroy: () => {
        socket.isOpen = false;
      },
    };
    if (!connections.open(socket)) socket.isOpen = false;
    return socket;
  };
  return {
    connections,
    open,
    openMany: (count: number, of: string) => Array.from({ length: count }, () => open(of)),
  };
}

const count = (sockets: readonly TestSocket[]) => sockets.filter(({ isOpen }) => isOpen).length;

test('A client that opens 1,000 connections holds 100, and another client is served', (t) => {
  const { open, openMany } = given();
  const hostile = openMany(1_000, '198.51.100.1');
  t.is(count(hostile), 100);
  t.true(
    hostile.slice(-100).every(({ isOpen }) => isOpen),
    'the longest idle ones ended',
  );
  t.true(open('198.51.100.2').isOpen);
});

test('An IPv6 client holds 100 connections from its /64, and its neighbours 1,000 from the /48', (t) => {
  const { openMany } = given({ connectionsMax: 5_000 });
  t.is(count(openMany(150, '2001:db8:0:1::1')), 100);
  const held = Array.from({ length: 15 }, (_, n) => openMany(100, `2001:db8:0:${n + 2}::1`));
  t.is(count(held.flat()), 1_000);
});

test('When all connections are taken, the busiest client loses its longest idle connection', (t) => {
  const { connections, open, openMany } = given({ connectionsMax: 10 });
  const quiet = openMany(3, '198.51.100.1');
  const busiest = openMany(7, '198.51.100.2');
  const [first, second] = busiest;
  if (first === undefined || second === undefined) return t.fail();
  // Its first connection has a request under way, so it is not idle.
  connections.begin(first);
  t.true(open('198.51.100.3').isOpen);
  t.deepEqual([first.isOpen, second.isOpen, count(busiest), count(quiet)], [true, false, 6, 3]);
  // After the request it has been idle for the shortest time.
  connections.end(first);
  openMany(4, '198.51.100.4');
  t.true(first.isOpen);
  return t.is(count(busiest), 3);
});

test('A client takes no connection from clients with fewer connections than it has', (t) => {
  const { connections, open, openMany } = given({ connectionsMax: 10 });
  const quiet = openMany(4, '198.51.100.1');
  for (const socket of openMany(6, '198.51.100.2')) connections.begin(socket);
  t.false(open('198.51.100.2').isOpen);
  t.is(count(quiet), 4);
  t.true(open('198.51.100.3').isOpen);
});

test('No schedule exceeds a limit, and a client with one connection is refused only while others hold no idle one', (t) => {
  const steps = fc.array(
    fc.record({ client: fc.nat(4), act: fc.constantFrom('open', 'begin', 'end', 'close') }),
    {
      maxLength: 200,
    },
  );
  const check = fc.check(
    fc.property(steps, (schedule) => {
      const { connections, open } = given({ connectionsMax: 12, connectionsPerClientMax: 4 });
      const held: { socket: TestSocket; busy: boolean }[] = [];
      for (const { client, act } of schedule) {
        const address = `198.51.100.${client}`;
        const living = held.filter(({ socket }) => socket.isOpen);
        const own = living.filter(({ socket }) => socket.remoteAddress === address);
        if (act === 'open') {
          const socket = open(address);
          const othersIdle = living.some(({ busy }) => !busy);
          if (!socket.isOpen && own.length === 0 && othersIdle) return false;
          held.push({ socket, busy: false });
          continue;
        }
        const one = own.find(({ busy }) => busy === (act === 'end'));
        if (one === undefined) continue;
        if (act === 'begin') connections.begin(one.socket);
        if (act === 'end') connections.end(one.socket);
        if (act === 'close') connections.close(one.socket);
        one.busy = act === 'begin';
        if (act === 'close') one.socket.isOpen = false;
      }
      const living = held.map(({ socket }) => socket).filter(({ isOpen }) => isOpen);
      const most = Math.max(
        0,
        ...[0, 1, 2, 3, 4].map((n) => living.filter((s) => s.remoteAddress.endsWith(`.${n}`)).length),
      );
      return living.length <= 12 && most <= 4;
    }),
    { numRuns: 500 },
  );
  t.false(check.failed, JSON.stringify(check.counterexample));
});
