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
