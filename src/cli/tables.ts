import { z } from 'zod';
import type { JsonValue } from '../event-sourcing/ports/domain-event.js';

const rings = z.object({
  items: z.array(
    z.object({
      ...{ ring: z.string(), source: z.string() },
      keys: z.array(z.object({ kid: z.string(), active: z.boolean(), added_at: z.string().nullable() })),
    }),
  ),
});

const views = z.object({
  head: z.string(),
  items: z.array(
    z.object({
      ...{ name: z.string(), collection: z.string(), position: z.string().nullable() },
      ...{ fed_by: z.array(z.string()), set_apart: z.array(z.unknown()) },
      building: z.object({ generation: z.int() }).nullable(),
    }),
  ),
  reactions: z.array(
    z.object({
      name: z.string(),
      set_apart: z.array(z.object({ stream: z.string(), revision: z.string(), reason: z.string() })),
    }),
  ),
});

const accounts = z.object({
  items: z.array(
    z.object({
      ...{ id: z.string(), email: z.string(), email_verified: z.boolean(), banned: z.boolean() },
      platform_roles: z.array(z.string()),
    }),
  ),
  next_cursor: z.string().nullable(),
});

/** Makes the function that chooses what a person reads of a result; null for a result of another shape. */
function table<Shape extends z.ZodType>(
  shape: Shape,
  choose: (result: z.output<Shape>) => JsonValue,
): (result: JsonValue) => JsonValue | null {
  return (result) => {
    const parsed = shape.safeParse(result);
    return parsed.success ? choose(parsed.data) : null;
  };
}

/** Lists whose entries are wider than a line, by operation. `--json` prints all of an entry. */
const tables: Readonly<Record<string, (result: JsonValue) => JsonValue | null>> = {
  'keys list': table(rings, ({ items }) =>
    items.flatMap(({ ring, source, keys }) =>
      keys.map(({ kid, active, added_at }) => ({
        ring,
        kid,
        state: active ? 'active' : 'known',
        added_at,
        source,
      })),
    ),
  ),
  'projection list': table(views, ({ items, reactions }) => {
    const rows = items.map(({ collection, position, fed_by, building, set_apart }) => ({
      ...{ view: collection, position, fed_by },
      ...{ building: building?.generation ?? null, set_apart: set_apart.length },
    }));
    const apart = reactions.flatMap(({ name, set_apart: events }) =>
      events.map(({ stream, revision, reason }) => ({ reaction: name, stream, revision, reason })),
    );
    return apart.length === 0 ? rows : { views: rows, set_apart_by_reactions: apart };
  }),
  'user list': table(accounts, ({ items, next_cursor }) => ({
    items: items.map(({ id, email, email_verified: verified, banned, platform_roles: roles }) => ({
      ...{ id, email, verified, banned, roles },
    })),
    next_cursor,
  })),
};

/** Returns what a person reads of the result of an operation: the columns that fit a line, or the result itself. */
export function tableOf(operation: string, result: JsonValue): JsonValue {
  return tables[operation]?.(result) ?? result;
}
