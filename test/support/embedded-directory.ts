import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedContext } from '../../src/stores/embedded/context.js';
import {
  type EmbeddedStores,
  type EmbeddedStoresOptions,
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
    writeLimitMs: 5_000,
    faults: [],
    ...overrides,
  };
}

/** Opens the stores of a directory as the service does. */
export function openStores(
  directory: string,
  overrides: Partial<EmbeddedStoresOptions> = {},
): Promise<EmbeddedStores> {
  return openEmbeddedStores({ ...makeContext(directory), streamPrefix: 'stowage.', ...overrides });
}
