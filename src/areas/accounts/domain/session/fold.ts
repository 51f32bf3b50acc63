import type { AuthenticationMethod } from './events.js';

/** Adds a method once. The aggregate and the view both fold with it. */
export function withMethod(
  methods: readonly AuthenticationMethod[],
  method: AuthenticationMethod,
): readonly AuthenticationMethod[] {
  return methods.includes(method) ? methods : [...methods, method];
}
