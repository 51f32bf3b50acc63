import type { ExecutionContext } from 'ava';
import type { Fault } from '../../../src/stores/embedded/writing/transactions.js';
import type { EmbeddedStoresOptions } from '../../../src/stores/embedded/open-embedded-stores.js';
import {
  givenDirectory,
  openLog,
  openReadModels,
  openState,
  openStores,
} from '../servers/embedded-directory.js';

type Overrides = Partial<EmbeddedStoresOptions>;

/** Opens stores in a new directory, with the faults and limits of the test. */
async function givenOpen<Opened extends { close(): Promise<void> }>(
  t: ExecutionContext,
  open: (directory: string, overrides: Overrides) => Promise<Opened>,
  overrides: Overrides = {},
) {
  const directory = givenDirectory(t);
  const fatal: Error[] = [];
  const opened = await open(directory, { onFatal: (error) => fatal.push(error), ...overrides });
  t.teardown(() => opened.close());
  return { directory, fatal, ...opened };
}

export const givenStores = (t: ExecutionContext, overrides?: Overrides) =>
  givenOpen(t, openStores, overrides);
export const givenLog = (t: ExecutionContext, overrides?: Overrides) => givenOpen(t, openLog, overrides);
export const givenReadModels = (t: ExecutionContext, overrides?: Overrides) =>
  givenOpen(t, openReadModels, overrides);
export const givenState = (t: ExecutionContext, overrides?: Overrides) => givenOpen(t, openState, overrides);

/** Makes a fault: by default the log's first commit fails before its effect. */
export const commitFails = (overrides: Partial<Fault>): Fault => ({
  file: 'events',
  step: 'commit',
  n: 1,
  when: 'before',
  ...overrides,
});
