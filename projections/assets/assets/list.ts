import type { View, ViewDocument } from '../../../src/event-sourcing/views/views.js';
import {
  type FilteredPage,
  lastIdOf,
  matchingPage,
  type OrderedList,
  pageFrom,
} from '../../filtered-page.js';
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

/** The documents of assets in one order. A place is the last document's: its id, or its id and value. */
type Order = Omit<OrderedList<ViewDocument<AssetDocument>>, 'matches'>;

/**
 * Lists a project's assets. It reads the index that the filter and the order allow, and compares each document with the
 * whole filter.
 */
export async function listAssets(
  view: Pick<View<AssetDocument>, 'find' | 'findInOrder'>,
  projectId: string,
  { filter, sort, limit, after }: AssetQuery,
): Promise<FilteredPage<ViewDocument<AssetDocument>>> {
  const order = sort.endsWith('created_at')
    ? byCreation(view, projectId, filter, sort.startsWith('-'))
    : byField(view, projectId, sort);
  const matches = makeMatches(filter);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return matchingPage(pageFrom(after, limit), {
    ...order,
    matches: isFiltered ? ({ body }) => matches(body) : null,
  });
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
  const from = filter.created_after === undefined ? null : new Date(filter.created_after);
  // Without an earlier page, the oldest first begin where the filter does.
  const start = from === null || descending ? undefined : lastIdOf(from);
  return {
    read: ({ after = start, limit }) => view.find({ where, descending, ...pageFrom(after, limit) }),
    placeOf: ({ id }) => id,
    // Ids are in the order of creation.
    isPast: ({ body }) => descending && from !== null && Date.parse(body.created_at) <= from.getTime(),
  };
}

const fields = { name: 'by_name', size: 'by_size' } as const;
const idLength = 36;

function byField(view: Pick<View<AssetDocument>, 'findInOrder'>, projectId: string, sort: AssetSort): Order {
  const descending = sort.startsWith('-');
  const field = fields[sort.endsWith('name') ? 'name' : 'size'];
  const first = { value: descending ? pastPlaces(projectId) : place(projectId, ''), id: '' };
  return {
    read: ({ after, limit }) =>
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
