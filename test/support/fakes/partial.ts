/**
 * Makes a collaborator of which a test uses some members only. The use of another member throws an error that names it.
 * @param members the members that the test uses; the type is the one that the caller expects
 */
export function partial<Whole extends object>(members: Partial<NoInfer<Whole>>): Whole {
  return new Proxy(members, {
    get(target, key) {
      if (key in target) return Reflect.get(target, key) as unknown;
      // A promise that resolves to the object asks for `then`.
      if (key === 'then') return undefined;
      throw new Error(`the test gives no ${String(key)}`);
    },
  }) as Whole;
}
