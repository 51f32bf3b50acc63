import { CommandRejected } from '../event-sourcing/ports/errors.js';
import { type FieldProblem, type FieldProblemCode, fieldProblem, listProblems } from './field-problems.js';

/** The input breaks a rule that does not depend on state. */
export type InvalidRequest = 'invalid_request';

/** Rejects an input with all problems that were found. The message lists them. */
export class InvalidInput extends CommandRejected<InvalidRequest> {
  readonly problems: readonly FieldProblem[];
  constructor(problems: readonly FieldProblem[]) {
    super('invalid_request', listProblems(problems));
    this.problems = problems;
  }
}

/**
 * Rejects a field, named as in the request.
 * @param problem a phrase that follows the name: `must have 1 to 64 characters`. It never contains the value
 * @throws InvalidInput
 */
export function invalid(field: string, problem: string, code: FieldProblemCode = 'format'): never {
  throw new InvalidInput([fieldProblem(field, code, problem)]);
}

/** Checks every entry, as `checkEach` does. */
export function checkAll<Entry, Result>(
  entries: readonly Entry[],
  check: (entry: Entry, index: number) => Result,
): Result[] {
  return Object.values(
    checkEach(Object.fromEntries(entries.map((entry, index) => [index, () => check(entry, index)]))),
  );
}

/**
 * Runs every check, and returns their results by name.
 * @throws InvalidInput with the problems of all checks; the first error of another kind
 */
export function checkEach<Checks extends Readonly<Record<string, () => unknown>>>(
  checks: Checks,
): { readonly [Name in keyof Checks]: ReturnType<Checks[Name]> } {
  const results: Record<string, unknown> = {};
  const problems: FieldProblem[] = [];
  for (const name in checks) {
    try {
      results[name] = checks[name]?.();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new InvalidInput(problems);
  return results as { readonly [Name in keyof Checks]: ReturnType<Checks[Name]> };
}
