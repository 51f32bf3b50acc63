import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { aroundCalls } from '../fakes/around-calls.js';
import type { Answer } from './http-app.js';

/** What a request costs: calls to the read models, and the documents and ids that they return. */
interface ReadCost {
  readonly calls: number;
  readonly read: number;
}

/** Makes a wrapper that counts as MongoDB would: each read is a command, and none is answered from a cache. */
export function countingReads() {
  let [calls, read] = [0, 0];
  const total = (): ReadCost => ({ calls, read });
  return {
    /** Returns the cost of all requests so far. */
    total,
    wrapDocuments: (store: ReadModelStore): ReadModelStore =>
      aroundCalls({ ...store, changeToken: () => null }, async (_name, run) => {
        calls += 1;
        const result = await run();
        read += Array.isArray(result) ? result.length : 1;
        return result;
      }),
    /** Returns what the request costs until its reply. */
    costOf: async (request: () => Promise<Answer>): Promise<ReadCost> => {
      const before = total();
      const { status, text } = await request();
      if (status >= 300) throw new Error(`the request failed with ${status}: ${text}`);
      return { calls: calls - before.calls, read: read - before.read };
    },
  };
}
