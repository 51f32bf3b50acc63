import { AsyncLocalStorage } from 'node:async_hooks';

/** What a piece of work carries to all calls that it makes. */
interface WorkContext {
  /** The span that the work belongs to. Its trace id is the correlation id of events. */
  readonly span?: { readonly traceId: string; readonly spanId: string; readonly traceFlags: number };
  /** How many documents and events stores have returned to the work. */
  readonly returned?: { count: number };
}

/** One storage for all: before Node 24 each costs every promise of the process 0.15 µs. */
const current = new AsyncLocalStorage<WorkContext>();

/** Runs work that carries this besides what the present work carries. */
export function carrying<Result>(more: WorkContext, work: () => Result): Result {
  return current.run({ ...current.getStore(), ...more }, work);
}

/** Returns what the present work carries. */
export function carried(): WorkContext {
  return current.getStore() ?? {};
}
