import type { TestFailure } from './test-failure.js';
import type { TestWarning } from './test-warning.js';

/** The result of a test of a storage. */
export interface TestResult {
  /** Null: the test has passed. */
  readonly failure: TestFailure | null;
  /** Empty after a failure. */
  readonly warnings: readonly TestWarning[];
}
