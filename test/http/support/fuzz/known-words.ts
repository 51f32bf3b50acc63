import type { Shape } from './shape.js';

/** What a caller was told, by the name of its field: addresses, tokens, names. A field of that name may be given it back. */
export interface KnownWords {
  /** The shape, whose text fields know what they were called before. */
  inform(shape: Shape): Shape;
  learn(body: unknown): void;
}

/** So many of each field are remembered, the newest. */
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
