/** Yields the items in every order; the given order comes first. */
export function* permutationsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  if (items.length === 0) yield [];
  for (const [index, item] of items.entries()) {
    for (const rest of permutationsOf(items.toSpliced(index, 1))) yield [item, ...rest];
  }
}
