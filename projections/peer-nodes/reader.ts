import type { Versioned, ViewDocument, Views } from '../../src/event-sourcing/views/views.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type NodeDocument, peerNodesProjection } from './projection.js';
import { resourceOf } from '../resource-of.js';
import { nodeResource, type NodeResource } from './resource.js';

export type { NodeResource } from './resource.js';

/** The node that asks for its peers: by its id, or by its address in canonical spelling. */
export type PeerOf = { readonly nodeId: string } | { readonly address: string };

/** @throws StoreUnavailable */
export interface NodeReader {
  find(nodeId: string): Promise<Versioned<NodeResource> | null>;
  /** Returns the node after a command. */
  after(documents: DocumentsAfter): Versioned<NodeResource>;
  /**
   * Lists all nodes in order of id. It returns the same array until a change, if the store detects changes.
   * @param options.now permits a list of the same second where the store does not detect changes
   */
  list(options?: { readonly now?: Date }): Promise<readonly NodeResource[]>;
  /** Lists all nodes except the asking one. An unknown one leaves none out. */
  peers(of: PeerOf): Promise<readonly NodeResource[]>;
}

const pageSize = 200;

export function makeNodeReader({ views }: { readonly views: Views }): NodeReader {
  const nodes = views.of(peerNodesProjection);
  let cached: { readonly token: string; readonly items: Promise<readonly NodeResource[]> } | null = null;

  return {
    find: async (nodeId) => {
      const document = await nodes.get(nodeId);
      return document === null ? null : versioned(document);
    },
    after: (documents) => versioned(documentAfter(peerNodesProjection, documents)),
    list,
    peers: async (of) => {
      const items = await list();
      return items.filter((node) =>
        'nodeId' in of ? node.id !== of.nodeId : node.ip_address !== of.address,
      );
    },
  };

  /** All callers that ask while one reads wait for the same read. */
  async function list({ now }: { readonly now?: Date } = {}): Promise<readonly NodeResource[]> {
    // The token is read before the items: a change in between makes the token stale, never the items.
    const token = nodes.changeToken() ?? secondOf(now);
    if (token !== null && cached?.token === token) return cached.items;
    const read = { token: token ?? '', items: readAll() };
    if (token !== null) cached = read;
    try {
      return await read.items;
    } catch (error) {
      if (cached === read) cached = null;
      throw error;
    }
  }

  async function readAll(): Promise<readonly NodeResource[]> {
    const items: NodeResource[] = [];
    for (;;) {
      const last = items.at(-1);
      const page = await nodes.find({ limit: pageSize, ...(last === undefined ? {} : { after: last.id }) });
      items.push(...page.map(presentNode));
      if (page.length < pageSize) return items;
    }
  }
}

/** A token that changes each second. */
function secondOf(now: Date | undefined): string | null {
  return now === undefined ? null : `second ${Math.floor(now.getTime() / 1_000)}`;
}

function versioned(document: ViewDocument<NodeDocument>): Versioned<NodeResource> {
  return { revision: document.revision, resource: presentNode(document) };
}

function presentNode({ id, body }: ViewDocument<NodeDocument>): NodeResource {
  return resourceOf(nodeResource, {
    id,
    ...body,
    // Node checks do not exist yet (docs/design.md#node-checks).
    consecutive_failures: 0,
    consecutive_successes: 0,
    last_checked_at: null,
  });
}
