import type { ExecutionContext, TestFn } from 'ava';
import { eventStoreAppendContract } from './event-store-append.js';
import type { EventStoreHarness } from './event-store-fixtures.js';
import { eventStoreLogContract } from './event-store-log.js';

/**
 * The contract of the EventStore port, for every adapter (src/event-sourcing/README.md#append). The tests share one store.
 * They allow for other writers to the same log, so that the suite also runs against a server in use.
 */
export function eventStoreContract(test: TestFn, openStore: () => Promise<EventStoreHarness>): void {
  let shared: EventStoreHarness | undefined;
  // As the service does: a log without an id gets one before its first event.
  const makeStore = async (): Promise<EventStoreHarness> => {
    const opened = await openStore();
    await opened.store.logId();
    return opened;
  };
  const harness = (): EventStoreHarness => {
    if (shared === undefined) throw new Error('the store under test is not open');
    return shared;
  };
  test.before(async () => {
    shared = await makeStore();
  });
  test.after.always(async () => {
    await shared?.close();
  });
  const givenOwn = async (t: ExecutionContext): Promise<EventStoreHarness> => {
    const own = await makeStore();
    t.teardown(() => own.close());
    return own;
  };
  eventStoreAppendContract(test, { harness, givenOwn });
  eventStoreLogContract(test, { harness, givenOwn });
}
