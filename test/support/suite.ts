import type { TestFn } from 'ava';

/**
 * Declares tests where nothing is missing. Otherwise the output names what does not run, and why.
 * @param missing what the machine lacks; null: nothing
 */
export function suite(test: TestFn, missing: string | null, what: string, declare: () => void): void {
  if (missing === null) declare();
  else test.skip(`${what}: ${missing}`, () => undefined);
}

/** Declares tests with what they need. Where it is undefined, the output says by `what` when they run. */
export function suiteWith<Needed>(
  test: TestFn,
  needed: Needed | undefined,
  what: string,
  declare: (needed: Needed) => void,
): void {
  if (needed === undefined) test.skip(what, () => undefined);
  else declare(needed);
}
