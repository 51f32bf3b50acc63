import type { Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type NodeDocument, type NodeStatus, peerNodesProjection } from './projection.js';

/** The peer node item of the API document, 2.3. */
export type NodeResource = {
  readonly id: string;
  readonly name: string;
  readonly node_type: 'normal' | 'high_defense';
  readonly ip_address: string;
  readonly ip_version: 4 | 6;
  readonly dnsprovider_record_id: string;
  readonly lb_weight: number;
  readonly lb_enabled: boolean;
  readonly max_capacity_hint: number | null;
  readonly status: NodeStatus;
  readonly consecutive_failures: number;
  readonly consecutive_successes: number;
  readonly last_checked_at: string | null;
  readonly status_changed_at: string | null;
  readonly note: string;
  readonly created_at: string;
  readonly updated_at: string;
};

/** Who asks for its peers: a node by its id, or whoever calls from an address (canonical spelling). */
export type PeerOf = { readonly nodeId: string } | { readonly address: string };

/** @throws StoreUnavailable */
export interface NodeReader {
  find(nodeId: string): Promise<Versioned<NodeResource> | null>;
  /** The node as a command left it. */
  after(documents: DocumentsAfter): Versioned<NodeResource>;
  /** All nodes, in order of id. The same array as long as nothing has changed, where the store can tell. */
  list(): Promise<readonly NodeResource[]>;
  /** All nodes but the asking one; an unknown one leaves none out. */
  peers(of: PeerOf): Promise<readonly NodeResource[]>;
}

const pageSize = 200;

export function makeNodeReader({ views }: { readonly views: Views }): NodeReader {
  const nodes = views.of(peerNodesProjection);
  let cached: { readonly token: string; readonly items: readonly NodeResource[] } | null = null;

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

  async function list(): Promise<readonly NodeResource[]> {
    // Taken before the read: a change in between makes the token old, never the items.
    const token = nodes.changeToken();
    if (token !== null && cached?.token === token) return cached.items;
    const items = await readAll();
    cached = token === null ? null : { token, items };
    return items;
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

function versioned(document: ViewDocument<NodeDocument>): Versioned<NodeResource> {
  return { revision: document.revision, resource: presentNode(document) };
}

function presentNode({ id, body }: ViewDocument<NodeDocument>): NodeResource {
  return {
    id,
    name: body.name,
    node_type: body.node_type,
    ip_address: body.ip_address,
    ip_version: body.ip_version,
    dnsprovider_record_id: body.dnsprovider_record_id,
    lb_weight: body.lb_weight,
    lb_enabled: body.lb_enabled,
    max_capacity_hint: body.max_capacity_hint,
    status: body.status,
    // Kept in the state store once nodes are checked.
    consecutive_failures: 0,
    consecutive_successes: 0,
    last_checked_at: null,
    status_changed_at: body.status_changed_at,
    note: body.note,
    created_at: body.created_at,
    updated_at: body.updated_at,
  };
}
