import { z } from 'zod';
import type { JsonValue } from '../event-sourcing/ports/domain-event.js';
import { ofShape } from './sentences.js';

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
      ...{ feeders: z.array(z.string()), quarantined: z.array(z.unknown()) },
      building: z.object({ generation: z.int() }).nullable(),
    }),
  ),
  reactions: z.array(
    z.object({
      name: z.string(),
      quarantined: z.array(z.object({ stream: z.string(), revision: z.string(), reason: z.string() })),
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

const nodes = z.object({
  items: z.array(
    z.object({
      ...{ id: z.string(), name: z.string(), ip_address: z.string(), status: z.string() },
      ...{ lb_enabled: z.boolean(), lb_weight: z.int() },
    }),
  ),
});

/** Payments that wait. Their ids begin with the platform and are 72 characters long. */
const waiting = z.object({
  items: z.array(
    z.object({
      ...{ id: z.string(), reason: z.string(), received_at: z.string() },
    }),
  ),
  next_cursor: z.string().nullable(),
});

/** What a person, or a program that takes the text, needs of a result, by operation. `--json` prints all of it. */
const tables: Readonly<Record<string, (result: JsonValue) => JsonValue | null>> = {
  // The lines that the verifier reads as `--key`.
  'audit key': ofShape(z.object({ vkeys: z.array(z.string()) }), ({ vkeys }) => vkeys),
  'keys list': ofShape(rings, ({ items }) =>
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
  'projection list': ofShape(views, ({ items, reactions }) => {
    const rows = items.map(({ collection, position, feeders, building, quarantined }) => ({
      ...{ view: collection, position, feeders },
      ...{ building: building?.generation ?? null, quarantined: quarantined.length },
    }));
    const quarantined = reactions.flatMap(({ name, quarantined: events }) =>
      events.map(({ stream, revision, reason }) => ({ reaction: name, stream, revision, reason })),
    );
    return quarantined.length === 0 ? rows : { views: rows, quarantined_by_reactions: quarantined };
  }),
  'node list': ofShape(nodes, ({ items }) =>
    items.map(({ id, name, ip_address: address, status, lb_enabled: inUse, lb_weight: weight }) => ({
      ...{ id, name, address, status },
      weight: inUse ? weight : null,
    })),
  ),
  'payments unmatched': ofShape(waiting, ({ items, next_cursor }) => ({
    items: items.map(({ id, reason, received_at: at }) => ({ id, reason, received: at.slice(0, 16) })),
    next_cursor,
  })),
  'user list': ofShape(accounts, ({ items, next_cursor }) => ({
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
