import type { LookupAddress } from 'node:dns';

/** Resolves a host name to its addresses. Tests pass their own. */
export type Lookup = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

type Callback = Parameters<Lookup>[1];

/**
 * Makes a look-up that runs once at a time for each host name. The machine's look-up takes one of Node's four threads
 * until it ends, longer than the time limit of a request. Without this, the repeated requests to one host whose DNS
 * hangs take all threads, and stop the look-ups of all other hosts.
 */
export function sharingLookup(lookup: Lookup): Lookup {
  const running = new Map<string, Callback[]>();
  return (hostname, callback) => {
    const waiting = running.get(hostname);
    if (waiting !== undefined) {
      waiting.push(callback);
      return;
    }
    const callbacks = [callback];
    running.set(hostname, callbacks);
    lookup(hostname, (error, addresses) => {
      running.delete(hostname);
      for (const each of callbacks) each(error, addresses);
    });
  };
}
