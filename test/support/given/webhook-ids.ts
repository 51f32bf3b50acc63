/** Returns the `n`-th id of an order in a test. */
export function anId(n: number): string {
  return `019b7d00-0000-7000-8000-${String(n).padStart(12, '0')}`;
}
