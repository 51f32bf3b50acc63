import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { eventually } from '../eventually.js';

/** Clients that ask without a pause. */
export interface Load {
  /** Resolves when each client has the replies to all requests that it has sent before now. */
  readonly answered: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Repeats a request by two clients until the test ends. A refusal is followed by a short pause. */
export function keepAsking(t: ExecutionContext, ask: () => Promise<boolean>): Load {
  let stopped = false;
  t.teardown(() => {
    stopped = true;
  });
  const replies = [0, 0];
  const clients = replies.map(async (_, client) => {
    while (!stopped) {
      // A process that is away refuses the connection.
      const isServed = await ask().catch(() => false);
      replies[client] = (replies[client] ?? 0) + 1;
      if (!isServed) await wait(100);
    }
  });
  return {
    answered: async () => {
      const before = [...replies];
      await eventually(
        'each client has a reply',
        () => stopped || replies.every((count, client) => count !== before[client]),
      );
    },
    stop: async () => {
      stopped = true;
      await Promise.all(clients);
    },
  };
}
