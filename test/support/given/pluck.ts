/** Returns one property of each item. */
export function pluck<Item, Name extends keyof Item>(
  items: readonly Item[],
  name: Name,
): readonly Item[Name][] {
  return items.map((item) => item[name]);
}
