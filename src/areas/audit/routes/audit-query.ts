import { z } from 'zod';
import type { Moment } from '../history/history.js';
import { namedKinds } from '../../../../projections/audit/names/reader.js';
import { pageQueryBy } from '../../../../projections/paging.js';
import { invalid } from '../../../validation/field-problems.js';

/** The index of an event, as text. */
export const indexPattern = /^(?:0|[1-9]\d{0,14})$/;

/** The index of an event, or a time. */
export const momentQuery = z
  .string()
  .max(40)
  .transform((text, ctx): Moment => {
    if (indexPattern.test(text)) return { index: Number(text) };
    if (z.iso.datetime().safeParse(text).success) return { time: new Date(text) };
    ctx.addIssue({ code: 'custom', message: 'must be the index of an event, or a time (RFC 3339, UTC)' });
    return z.NEVER;
  });

const namedStream = `(?:${namedKinds.join('|')})-[0-9a-f-]{36}`;

/** Up to 50 streams of what has a name. */
export const namedStreamsQuery = z
  .string()
  .regex(
    new RegExp(`^${namedStream}(?:,${namedStream}){0,49}$`),
    'must be 1 to 50 streams of users, projects and shares, with commas between them',
  )
  .transform((text) => [...new Set(text.split(','))])
  .meta({
    examples: ['user-0196a000-0000-7000-8000-000000000001,project-0196a000-0000-7000-8000-000000000002'],
  });

/** The example of a type, in the document and on the page. */
export const typeExample = 'ShareRevoked';

/** The filters of every list of audit events, all of which an event must have. */
export const auditEventsQuery = pageQueryBy(z.string().regex(indexPattern)).extend({
  stream: z
    .string()
    .regex(/^[a-z]{1,32}-[\w.:-]{1,200}$/, 'must be the name of a stream')
    .optional()
    .meta({ examples: ['share-0196a000-0000-7000-8000-000000000002'] }),
  type: z
    .string()
    .regex(/^[A-Z][A-Za-z]{0,63}$/, 'must be a type of events')
    .optional()
    .meta({ examples: [typeExample] }),
  actor: z
    .string()
    .regex(
      /^(?:(?:user|key):[\w-]{1,64}|system:[a-z0-9-]{1,64}|agent|operator|anonymous)$/,
      'must be user:<id>, key:<id>, agent, operator, system:<reaction> or anonymous',
    )
    .optional(),
  from: momentQuery.optional().describe('The first index or time that counts.'),
  to: momentQuery.optional().describe('The last index or time that counts.'),
});

type AuditEventsQuery = z.output<typeof auditEventsQuery>;

/** Converts the query of a list to a search. @throws HttpError 400 when `from` is after `to` */
export function searchOf({ stream, type, actor, from, to, cursor, limit }: AuditEventsQuery) {
  if (isAfter(from, to)) invalid('query.from', 'must not be after to', 'not_allowed');
  return {
    terms: {
      ...(stream === undefined ? {} : { stream }),
      ...(type === undefined ? {} : { type }),
      ...(actor === undefined ? {} : { actor }),
    },
    ...{ from, to, limit },
    before: cursor === undefined ? undefined : Number(cursor),
  };
}

/** Makes the body of a page of events. */
export function pageOfEvents<Item>(input: {
  readonly items: readonly Item[];
  readonly next: number | null;
}): { items: Item[]; next_cursor: string | null } {
  const { items, next } = input;
  return {
    items: [...items],
    next_cursor: next === null ? null : Buffer.from(String(next)).toString('base64url'),
  };
}

function isAfter(from: Moment | undefined, to: Moment | undefined): boolean {
  if (from === undefined || to === undefined) return false;
  if ('index' in from) return 'index' in to && from.index > to.index;
  return 'time' in to && from.time > to.time;
}

/** A proof that an event is under the signed checkpoint. */
export const proofText = z.string().meta({ examples: ['c2sp.org/tlog-proof@v1\nindex 7\n…'] });
