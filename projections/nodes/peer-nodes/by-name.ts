import type { ViewDocument } from '../../../src/event-sourcing/views/views.js';
import { sortedName } from '../../words.js';
import type { OrderedList } from '../../filtered-page.js';
import type { NodeDocument } from './projection.js';

type Node = ViewDocument<NodeDocument>;

const idLength = 36;

/** Puts nodes in order of name, then of id. Capitals and accents do not count. A place is the id and the name of a node. */
export function nodesByName(
  nodes: readonly Node[],
  descending: boolean,
): Pick<OrderedList<Node>, 'read' | 'placeOf'> {
  const sign = descending ? -1 : 1;
  const placeOf = ({ id, body }: Node): string => id + sortedName(body.name);
  const ordered = nodes
    .map((node) => ({ node, place: placeOf(node) }))
    .sort((one, other) => sign * compare(one.place, other.place));
  return {
    placeOf,
    read: ({ after, limit }) => {
      const start =
        after === undefined ? 0 : ordered.findIndex(({ place }) => sign * compare(place, after) > 0);
      return start === -1 ? [] : ordered.slice(start, start + limit).map(({ node }) => node);
    },
  };
}

function compare(one: string, other: string): number {
  return order(one.slice(idLength), other.slice(idLength)) || order(one, other);
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
