import { z } from 'zod';
import type { Random } from '../../../../src/kit/time/clock.js';

/** The part of JSON Schema that the request schemas use. */
export interface Shape {
  readonly $ref?: string | undefined;
  readonly $defs?: Readonly<Record<string, Shape>> | undefined;
  readonly type?: string | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly Shape[] | undefined;
  readonly oneOf?: readonly Shape[] | undefined;
  readonly properties?: Readonly<Record<string, Shape>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | Shape | undefined;
  readonly items?: Shape | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly pattern?: string | undefined;
  readonly format?: string | undefined;
  readonly examples?: readonly unknown[] | undefined;
  /** An addition to JSON Schema: values of fields of this name in earlier replies. */
  readonly known?: readonly string[] | undefined;
}

const shape: z.ZodType<Shape> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    $defs: z.record(z.string(), shape).optional(),
    type: z.string().optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(shape).optional(),
    oneOf: z.array(shape).optional(),
    properties: z.record(z.string(), shape).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), shape]).optional(),
    items: shape.optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().optional(),
    format: z.string().optional(),
    examples: z.array(z.unknown()).optional(),
  }),
);

/** Returns the shape of a schema's input, with its references resolved. */
export function shapeOf(schema: z.ZodType): Shape {
  const root = shape.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', cycles: 'throw' }));
  const resolve = (at: Shape): Shape => {
    if (at.$ref !== undefined) return resolve(root.$defs?.[at.$ref.replace('#/$defs/', '')] ?? {});
    const each = (of: readonly Shape[] | undefined): readonly Shape[] | undefined => of?.map(resolve);
    return {
      ...at,
      anyOf: each(at.anyOf),
      oneOf: each(at.oneOf),
      items: at.items === undefined ? undefined : resolve(at.items),
      properties:
        at.properties === undefined
          ? undefined
          : Object.fromEntries(Object.entries(at.properties).map(([name, of]) => [name, resolve(of)])),
    };
  };
  return resolve(root);
}

/** Seeded choices. */
export interface Dice {
  /** Returns a whole number from 0 up to, but not including, the bound. */
  below(bound: number): number;
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Calls one of the choices and returns its result. */
  choose<Item>(...choices: readonly (() => Item)[]): Item;
}

export function makeDice(random: Random): Dice {
  const below = (bound: number): number => Math.floor(random() * bound);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => random() < probability,
    pick,
    choose: (...choices) => pick(choices)(),
  };
}
