import { type NodeCheck, statusShown } from '../../../src/areas/nodes/domain/node/fold.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { Page, Versioned, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { everyOf, type FilterOf, type OrderedList, matchesOf, matchingPage } from '../../filtered-page.js';
import type { NodeCheckReader } from './checks.js';
import { type NodeDocument, peerNodesProjection } from './projection.js';
import {
  type NodeResource,
  type NodeSort,
  type OperatedNode,
  nodeResource,
  operatedNode,
} from './resource.js';
import { sortedName } from '../../words.js';

type Node = ViewDocument<NodeDocument>;

const idLength = 36;

/** Puts nodes in order of name, then of id. Capitals and accents do not count. A position is the id and the name of a node. */
function nodesByName(
  nodes: readonly Node[],
  descending: boolean,
): Pick<OrderedList<Node>, 'read' | 'positionOf'> {
  const sign = descending ? -1 : 1;
  const positionOf = ({ id, body }: Node): string => id + sortedName(body.name);
  const ordered = nodes
    .map((node) => ({ node, position: positionOf(node) }))
    .sort((one, other) => sign * compare(one.position, other.position));
  return {
    positionOf,
    read: ({ after, limit }) => {
      const start =
        after === undefined ? 0 : ordered.findIndex(({ position }) => sign * compare(position, after) > 0);
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

/** All nodes in order of id. The array is the same until a node changes. */
export type ListedNodes = readonly ViewDocument<NodeDocument>[];

/** @throws StoreUnavailable */
export type NodeReader = ReturnType<typeof makeNodeReader>;

export function makeNodeReader(deps: {
  readonly views: Views;
  readonly nodeChecks: Pick<NodeCheckReader, 'all' | 'one'>;
}) {
  const { views, nodeChecks } = deps;
  const nodes = views.of(peerNodesProjection);
  let cached: { readonly token: string; readonly items: Promise<ListedNodes> } | null = null;
  let newest: ListedNodes = [];
  return {
    find: async (nodeId: string) => {
      const [document, check] = await Promise.all([nodes.get(nodeId), nodeChecks.one(nodeId)]);
      return document === null ? null : versioned(document, check);
    },
    /** Returns the node after a command. */
    after: async (documents: DocumentsAfter) => {
      const document = documentAfter(peerNodesProjection, documents);
      return versioned(document, await nodeChecks.one(document.id));
    },
    /**
     * Reads all nodes, without their counters.
     * @param clock permits a list of the same second where the store does not detect changes
     */
    listed,
    /** Returns the counters of all nodes, at most 1 s old. */
    checks: () => nodeChecks.all(),
    /** Lists all nodes in order of id. */
    list: async (clock?: Pick<Clock, 'now'>) => {
      const [documents, { byNode }] = await Promise.all([listed(clock), nodeChecks.all()]);
      return documents.map((document) => operated(document, byNode.get(document.id)));
    },
    /** Returns a page of the nodes. */
    page: async (
      { sort, ...page }: Page & { readonly sort: NodeSort },
      filter: FilterOf<OperatedNode, 'status' | 'node_type'>,
    ) => {
      const matches = matchesOf(filter);
      const shown = ({ body }: ViewDocument<NodeDocument>) => ({ ...body, status: statusShown(body) });
      const descending = sort.startsWith('-');
      const list = sort.endsWith('name') ? nodesByName(await listed(), descending) : byCreation(descending);
      const [{ items, next }, { byNode }] = await Promise.all([
        matchingPage<ViewDocument<NodeDocument>>(page, {
          ...list,
          matches: matches && ((document) => matches(shown(document))),
        }),
        nodeChecks.all(),
      ]);
      return { items: items.map((document) => operated(document, byNode.get(document.id))), next };
    },
  };

  function byCreation(
    descending: boolean,
  ): Pick<OrderedList<ViewDocument<NodeDocument>>, 'read' | 'positionOf'> {
    return { read: (page) => nodes.find({ descending, ...page }), positionOf: ({ id }) => id };
  }

  /** All callers that ask while one reads wait for the same read. */
  function listed(clock?: Pick<Clock, 'now'>): Promise<ListedNodes> {
    // The token is read before the items: a change in between makes the token stale, never the items.
    const token = nodes.changeToken() ?? secondOf(clock);
    if (token !== null && cached?.token === token) return cached.items;
    const items = readAll().catch((error: unknown) => {
      if (cached?.items === items) cached = null;
      throw error;
    });
    if (token !== null) cached = { token, items };
    return items;
  }

  async function readAll(): Promise<ListedNodes> {
    const items: ViewDocument<NodeDocument>[] = [];
    for await (const node of everyOf((page) => nodes.find(page))) items.push(node);
    if (!areSame(items, newest)) newest = items;
    return newest;
  }
}

function areSame(nodes: ListedNodes, others: ListedNodes): boolean {
  return (
    nodes.length === others.length &&
    nodes.every(({ id, revision }, index) => {
      const other = others[index];
      return other?.id === id && other.revision === revision;
    })
  );
}

/** A token that changes each second. */
function secondOf(clock: Pick<Clock, 'now'> | undefined): string | null {
  return clock === undefined ? null : `second ${Math.floor(clock.now().getTime() / 1_000)}`;
}

function versioned(document: ViewDocument<NodeDocument>, check: NodeCheck | null): Versioned<OperatedNode> {
  return { revision: document.revision, resource: operated(document, check ?? undefined) };
}

function operated(document: ViewDocument<NodeDocument>, check: NodeCheck | undefined): OperatedNode {
  return resourceOf(operatedNode, { ...presentPeer(document, check), ...document.body });
}

/** Makes the resource of a node. Without a check, the counters are 0. */
export function presentPeer(
  { id, body }: ViewDocument<NodeDocument>,
  check: NodeCheck | undefined,
): NodeResource {
  return resourceOf(nodeResource, {
    id,
    ...body,
    status: statusShown(body),
    consecutive_failures: check?.failures ?? 0,
    consecutive_successes: check?.successes ?? 0,
    last_checked_at: check?.last_checked_at ?? null,
  });
}
