import { CommandRejected } from '../event-sourcing/ports/errors.js';

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

/** What can be wrong with a field, for programs. docs/errors-and-limits.md#fields lists each one. */
export const fieldProblemCodes = [
  'missing',
  'unknown',
  'type',
  'too_short',
  'too_long',
  'too_small',
  'too_large',
  'format',
  'repeated',
  'not_allowed',
] as const;
export type FieldProblemCode = (typeof fieldProblemCodes)[number];

export interface FieldProblem {
  /** Its path in the body, as `renditions.0.kind`; empty for the body itself. Other parts begin with `path.`, `query.` or `header.`. */
  readonly field: string;
  readonly code: FieldProblemCode;
  /** A phrase that follows the name of the field, without the value: `must be a URL`. */
  readonly problem: string;
}

/** A caller may send names of any length. */
const nameCharactersMax = 100;

/** What is invisible, or changes the direction of the text around it. */
const unshowable = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Makes a problem. The field's name may be a caller's: it is cut, and what cannot be shown is replaced. */
export function fieldProblem(field: string, code: FieldProblemCode, problem: string): FieldProblem {
  const characters = Array.from(field.slice(0, 4 * nameCharactersMax));
  const name =
    characters.length > nameCharactersMax
      ? `${characters.slice(0, nameCharactersMax - 1).join('')}…`
      : characters.join('');
  return { field: name.replace(unshowable, '\ufffd'), code, problem };
}

/** How many problems a reply lists. */
export const listedProblemsMax = 20;
const sentenceCharactersMax = 1_000;

/** Lists problems for people: `name is missing; endpoint must be a URL; and 12 more`. */
export function listProblems(problems: readonly FieldProblem[]): string {
  let text = '';
  for (const [index, problem] of problems.entries()) {
    const next = phraseOf(problem);
    if (index === listedProblemsMax || (index > 0 && text.length + next.length > sentenceCharactersMax)) {
      return `${text}; and ${problems.length - index} more`;
    }
    text = index === 0 ? next : `${text}; ${next}`;
  }
  return text;
}

/** Says one problem for people: `name is missing`. */
export function phraseOf({ field, problem }: FieldProblem): string {
  return `${field === '' ? 'the body' : field} ${problem}`;
}
