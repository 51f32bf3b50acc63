import { codeOf } from '../kit/errors.js';
import { readFileSync, type Stats, statSync } from 'node:fs';
import type { z } from 'zod';
import { phraseOf } from '../validation/field-problems.js';
import { fieldProblems } from '../validation/zod-problems.js';
import { parseJson } from '../kit/parse.js';

/**
 * Finds variables that the service ignores although a person probably meant a known one. A short name may differ by one
 * character, so that HOME is not taken for HOST.
 * @param set the names of the variables that are set
 * @param secrets names that also have a variant with `_FILE`
 */
export function findMisspelt(
  set: readonly string[],
  names: readonly string[],
  secrets: readonly string[],
): readonly { readonly variable: string; readonly meant: string }[] {
  const known = new Set([...names, ...secrets, ...secrets.map((name) => `${name}_FILE`)]);
  return set.flatMap((variable) => {
    if (known.has(variable)) return [];
    const distanceMax = variable.length < 8 ? 1 : 2;
    const [nearest] = [...known]
      .map((meant) => ({ meant, distance: editDistance(variable, meant) }))
      .filter(({ distance }) => distance <= distanceMax)
      .sort((a, b) => a.distance - b.distance);
    return nearest === undefined ? [] : [{ variable, meant: nearest.meant }];
  });
}

/** Returns the insertions, deletions and substitutions between two names (Levenshtein). */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return 3;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 0; line < one.length; line += 1) {
    const next = [line + 1];
    for (let column = 0; column < other.length; column += 1) {
      const replaced = (row[column] ?? 0) + (one[line] === other[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The message names every problem of the environment, one a line, and no value of a secret. */
export class ConfigProblem extends Error {
  override readonly name = 'ConfigProblem';
}

/** The variables by name. An empty variable counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a secret from the variable, or from the file that `<name>_FILE` names; undefined if not set or blank.
 * @throws ConfigProblem when both are set, or the file cannot be read, or not again
 */
export function readSecret(environment: Environment, name: string): string | undefined {
  const file = environment[`${name}_FILE`];
  const direct = environment[name];
  if (file !== undefined && direct !== undefined)
    throw new ConfigProblem(`${name} and ${name}_FILE are both set; set one`);
  // The service reads a secret at each use.
  if (statOf(file)?.isFIFO() === true)
    throw new ConfigProblem(
      `${name}_FILE names ${file}, which is a pipe; name a file, which can be read again`,
    );
  const text = file === undefined ? direct : readFile(`${name}_FILE`, file);
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

/** Returns whether a file exists and every user of the machine may read it. */
export function isReadableByAll(file: string | undefined): boolean {
  return ((statOf(file)?.mode ?? 0) & 0o004) !== 0;
}

function statOf(file: string | undefined): Stats | null {
  if (file === undefined) return null;
  try {
    return statSync(file);
  } catch {
    // The reader of the file says why it cannot be read.
    return null;
  }
}

/** Returns what is wrong with the variables, one sentence each, without their values. */
export function schemaProblems(schema: z.ZodType, environment: Environment): readonly string[] {
  return fieldProblems(schema, environment).map(phraseOf);
}

/** Reads a JSON file. @throws ConfigProblem */
export function readJson(variable: string, file: string): unknown {
  const json = parseJson(readFile(variable, file));
  if (json === undefined) throw new ConfigProblem(`${variable} ${file} is not JSON`);
  return json;
}

/** Reads a text file. @throws ConfigProblem */
export function readFile(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigProblem(`${variable} names ${file}, which cannot be read (${codeOf(error)})`);
  }
}

/** Returns the value. After a ConfigProblem it adds the message to `problems` and returns undefined. */
export function collect<Result>(problems: string[], read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error;
    problems.push(error.message);
    return undefined;
  }
}
