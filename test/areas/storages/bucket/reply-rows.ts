import test from 'ava';
import { describeFailure } from '../../../../src/areas/storages/domain/storage/test-failure.js';
import type { ProbeFailureCode } from '../../../../src/areas/storages/bucket/probing/probe-failure-code.js';
import {
  failureOfReply,
  type ProbeStep,
} from '../../../../src/areas/storages/bucket/probing/probe-failure.js';

/** A reply that a provider documents or that people quote, and what the test of a storage makes of it. */
export interface ReplyRow {
  readonly source: string;
  readonly step?: ProbeStep;
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code: ProbeFailureCode;
  readonly hint?: string;
  /** A part of the advice. */
  readonly advice: RegExp;
}

/** Writes an error document. Its request id must not appear in a failure. */
export const errorDocument = (code: string, message: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>canary</RequestId></Error>`;
/** The finer code of OSS. */
export const ec = (code: string): string => `<EC>${code}</EC>`;

/** Defines a test for each row. */
export function testReplies(rows: readonly ReplyRow[]): void {
  for (const [index, row] of rows.entries()) {
    const { source, step = 'list', status, body, headers = {}, code, hint = null, advice } = row;
    test(`Row ${index + 1}: the reply ${status} to the step ${step} is ${code} (${source})`, async (t) => {
      const failure = await failureOfReply(step, { status, headers, body: Buffer.from(body) });
      t.deepEqual(failure, { code, hint });
      const text = describeFailure(failure);
      t.true(text.startsWith(`${code}: `));
      t.regex(text.slice(code.length + 2), advice);
      t.notRegex(text, /canary/);
    });
  }
}
