/**
 * Returns the store with a hook around each call. A change token passes the hook by, because it costs no command.
 * @param around gets the name of the call and its arguments, and returns what the caller gets; `run` makes the call
 */
export function aroundCalls<Store extends object>(
  store: Store,
  around: (name: string, run: () => unknown, given: readonly unknown[]) => unknown,
): Store {
  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || key === 'changeToken') return member;
      return (...given: unknown[]): unknown =>
        around(String(key), () => Reflect.apply(member, target, given) as unknown, given);
    },
  });
}

/** Returns the store with a note of each call, such as `documents.getEach`, in `calls`. */
export function noting<Store extends object>(store: Store, name: string, calls: string[]): Store {
  return aroundCalls(store, (call, run) => {
    calls.push(`${name}.${call}`);
    return run();
  });
}
