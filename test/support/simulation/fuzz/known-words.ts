import type { Shape } from './shape.js';

/**
 * Texts that a caller has received, by the name of their field: addresses, tokens, names. Fields of that name may get
 * them again.
 */
export interface KnownWords {
  /** Returns the shape with the known texts in its text fields. */
  inform(shape: Shape): Shape;
  learn(body: unknown): void;
}

/** The number of the newest texts that are kept of each field. */
const mostOfAField = 5;

export function makeKnownWords(): KnownWords {
  const byField = new Map<string, readonly string[]>();
  return { inform, learn };

  function inform(shape: Shape): Shape {
    const { properties, anyOf, oneOf } = shape;
    return {
      ...shape,
      anyOf: anyOf?.map(inform),
      oneOf: oneOf?.map(inform),
      properties: properties && Object.fromEntries(Object.entries(properties).map(informed)),
    };
  }

  function informed([name, shape]: [string, Shape]): [string, Shape] {
    const known = shape.type === 'string' ? byField.get(name) : undefined;
    return [name, known === undefined ? inform(shape) : { ...shape, known }];
  }

  function learn(body: unknown): void {
    if (typeof body !== 'object' || body === null) return;
    for (const [name, value] of Object.entries(body)) {
      if (typeof value === 'string') {
        byField.set(name, [...(byField.get(name) ?? []), value].slice(-mostOfAField));
      } else learn(value);
    }
  }
}
