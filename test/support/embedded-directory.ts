import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedContext } from '../../src/stores/embedded/context.js';
import {
  type EmbeddedDocuments,
  type EmbeddedLog,
  type EmbeddedStores,
  type EmbeddedStoresOptions,
  openEmbeddedDocuments,
  openEmbeddedLog,
  openEmbeddedStores,
} from '../../src/stores/embedded/open-embedded-stores.js';
import { makeSeededRandom, realClock } from './clock.js';

/** A new directory for a test's files, and how to be rid of it. */
export function makeDirectory(): { readonly directory: string; readonly remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-embedded-'));
  return {
    directory,
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What the stores of a directory are opened with; a fatal error is one that the test did not expect. */
export function makeContext(directory: string, overrides: Partial<EmbeddedContext> = {}): EmbeddedContext {
  return {
    directory,
    clock: realClock,
    random: makeSeededRandom(1),
    onFatal: (error) => {
      throw error;
    },
    // What is written is not about time, and the machine may be busy.
    writeLimitMs: 60_000,
    faults: [],
    ...overrides,
  };
}

type Overrides = Partial<EmbeddedStoresOptions>;

/** Opens the stores of a directory as the service does. */
export function openStores(directory: string, overrides: Overrides = {}): Promise<EmbeddedStores> {
  return openEmbeddedStores(makeOptions(directory, overrides));
}

/** The log alone: a third of the threads to start, for tests about nothing else. */
export function openLog(directory: string, overrides: Overrides = {}): Promise<EmbeddedLog> {
  return openEmbeddedLog(makeOptions(directory, overrides));
}

/** Read models and state alone. */
export function openDocuments(directory: string, overrides: Overrides = {}): Promise<EmbeddedDocuments> {
  return openEmbeddedDocuments(makeOptions(directory, overrides));
}

function makeOptions(directory: string, overrides: Overrides): EmbeddedStoresOptions {
  return { ...makeContext(directory), streamPrefix: 'stowage.', ...overrides };
}
