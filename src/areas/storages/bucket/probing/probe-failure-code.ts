import type { TestFailureCode } from '../../domain/delivery/test-failure.js';

/** The cause that makes a bucket unusable, divided by the remedy that its owner has. */
export type ProbeFailureCode = Exclude<TestFailureCode, 'probe_timeout' | 'test_broken'>;
