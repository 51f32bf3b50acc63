import type { z } from 'zod';

/** Removes the nulls of optional texts from parsed JSON, in place. */
type Omit = (value: unknown) => void;

type Schema = z.core.$ZodType;

/**
 * Makes the function that removes from a body each null of an optional text, because many clients write null for a field that
 * they leave out. A text whose schema accepts null keeps it: null has a meaning there. The function changes the value.
 * @returns null for a schema without such a text
 */
export function makeOmitNullTexts(schema: Schema): Omit | null {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return ofObject(def.shape);
  if (def.type === 'array') return ofEach(makeOmitNullTexts(def.element));
  if (def.type === 'union') return ofUnion(def);
  const inside = insideOf(schema);
  return inside === null ? null : makeOmitNullTexts(inside);
}

/** Returns whether a field of a body is an optional text that may not be null. */
function isOptionalText(field: Schema): boolean {
  if (field._zod.optin === undefined) return false;
  for (let schema: Schema | null = field; schema !== null; schema = insideOf(schema)) {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    if (def.type === 'nullable') return false;
    if (def.type === 'string') return true;
    if (def.type === 'enum') return Object.values(def.entries).every((one) => typeof one === 'string');
  }
  return false;
}

/** Returns the schema that receives the value first, of a schema that wraps one. */
function insideOf(schema: Schema): Schema | null {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ('innerType' in def) return def.innerType;
  return def.type === 'pipe' ? def.in : null;
}

function ofObject(shape: Readonly<Record<string, Schema>>): Omit | null {
  const texts = Object.keys(shape).filter((name) => isOptionalText(shape[name] as Schema));
  const parts = Object.entries(shape).flatMap(([name, field]): [string, Omit][] => {
    const omit = makeOmitNullTexts(field);
    return omit === null ? [] : [[name, omit]];
  });
  if (texts.length === 0 && parts.length === 0) return null;
  return (value) => {
    if (!isRecord(value)) return;
    for (const name of texts) if (value[name] === null) Reflect.deleteProperty(value, name);
    for (const [name, omit] of parts) omit(value[name]);
  };
}

function ofEach(omit: Omit | null): Omit | null {
  if (omit === null) return null;
  return (value) => {
    if (Array.isArray(value)) value.forEach(omit);
  };
}

/** The discriminator selects the variant whose texts count. Variants without one must not have optional texts. */
function ofUnion(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): Omit | null {
  const variants = def.options.map((option) => ({ option, omit: makeOmitNullTexts(option) }));
  if (variants.every(({ omit }) => omit === null)) return null;
  if (!('discriminator' in def)) throw new TypeError('variants with optional texts need a discriminator');
  const { discriminator } = def;
  return (value) => {
    if (!isRecord(value)) return;
    const name = value[discriminator] as z.core.util.Primitive;
    const chosen = variants.find(({ option }) => option._zod.propValues?.[discriminator]?.has(name) === true);
    chosen?.omit?.(value);
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
