import type { View, ViewDocument } from '../../src/event-sourcing/views/views.js';
import { examinedMax } from '../filtered-page.js';
import { type AssetFilter, makeMatches, findingMark, pastPlaces, place } from './finding.js';
import type { AssetDocument } from './projection.js';
import type { AssetSort } from './resource.js';

/** A page of a project's assets. */
export interface AssetQuery {
  readonly filter: AssetFilter;
  readonly sort: AssetSort;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

export interface AssetPage {
  readonly found: readonly ViewDocument<AssetDocument>[];
  /** The place from which on the next page is; null on the last one. */
  readonly next: string | null;
}

/** Documents that one call to the store reads. */
const readAtOnce = 200;

/** Reads documents in one order. A place is the last document's: its id, or its id and value. */
interface Order {
  readonly read: (
    after: string | undefined,
    limit: number,
  ) => Promise<readonly ViewDocument<AssetDocument>[]>;
  readonly placeOf: (document: ViewDocument<AssetDocument>) => string;
  /** Whether this document and all after it do not match. */
  readonly isPast: (document: ViewDocument<AssetDocument>) => boolean;
}

/**
 * Lists a project's assets. It reads the index that the filter and the order allow, and compares each document with the
 * whole filter.
 */
export async function listAssets(
  view: Pick<View<AssetDocument>, 'find' | 'findInOrder'>,
  projectId: string,
  { filter, sort, limit, after }: AssetQuery,
): Promise<AssetPage> {
  const order = sort.endsWith('created_at')
    ? byCreation(view, projectId, filter, sort.startsWith('-'))
    : byField(view, projectId, sort);
  const matches = makeMatches(filter);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const found: ViewDocument<AssetDocument>[] = [];
  let at = after;
  for (let examined = 0; examined < examinedMax;) {
    const wanted = isFiltered ? readAtOnce : limit + 1;
    const documents = await order.read(at, wanted);
    for (const document of documents) {
      if (order.isPast(document)) return { found, next: null };
      if (matches(document.body)) {
        if (found.length === limit) return { found, next: at ?? null };
        found.push(document);
      }
      at = order.placeOf(document);
    }
    if (documents.length < wanted) return { found, next: null };
    examined += documents.length;
  }
  return { found, next: at ?? null };
}

function byCreation(
  view: Pick<View<AssetDocument>, 'find'>,
  projectId: string,
  filter: AssetFilter,
  descending: boolean,
): Order {
  const mark = findingMark(projectId, filter);
  const where =
    mark === null ? { field: 'project_id', equals: projectId } : { field: 'found_by', equals: mark };
  const from = filter.created_after === undefined ? null : Date.parse(filter.created_after);
  // Without an earlier page, the oldest first begin where the filter does.
  const start = from === null || descending ? undefined : lastIdOf(from);
  return {
    read: (after = start, limit) =>
      view.find({ where, descending, limit, ...(after === undefined ? {} : { after }) }),
    placeOf: ({ id }) => id,
    // Ids are in the order of creation.
    isPast: ({ body }) => descending && from !== null && Date.parse(body.created_at) <= from,
  };
}

/** Returns the last UUIDv7 (RFC 9562, section 5.7) of a time in ms. */
function lastIdOf(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0').slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7fff-bfff-ffffffffffff`;
}

const fields = { name: 'by_name', size: 'by_size' } as const;
const idLength = 36;

function byField(view: Pick<View<AssetDocument>, 'findInOrder'>, projectId: string, sort: AssetSort): Order {
  const descending = sort.startsWith('-');
  const field = fields[sort.endsWith('name') ? 'name' : 'size'];
  const first = { value: descending ? pastPlaces(projectId) : place(projectId, ''), id: '' };
  return {
    read: (after, limit) =>
      view.findInOrder({
        ...{ orderBy: field, descending, limit },
        after:
          after === undefined
            ? first
            : { id: after.slice(0, idLength), value: place(projectId, after.slice(idLength)) },
      }),
    placeOf: ({ id, body }) => id + body[field].slice(place(projectId, '').length),
    // The index holds the assets of all projects.
    isPast: ({ body }) => body.project_id !== projectId,
  };
}
