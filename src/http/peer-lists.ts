import { LRUCache } from 'lru-cache';
import type { NodeReader, NodeResource, PeerOf } from '../../projections/peer-nodes/reader.js';
import { contentTag } from './etag.js';
import type { PreparedBody } from './reply.js';

/** Bytes of serialised lists that are kept; each asking node has a list of its own. */
const keptBytesMax = 16 * 1024 * 1024;

interface Edition {
  readonly nodes: readonly NodeResource[];
  readonly byId: ReadonlyMap<string, string>;
  readonly byAddress: ReadonlyMap<string, string>;
  readonly lists: LRUCache<string, PreparedBody>;
}

/**
 * Serves peer lists that are serialised and tagged once per edition of the nodes and asking node: the reader returns the
 * same array as long as nothing has changed, where its store can tell.
 */
export function makePeerLists(nodes: Pick<NodeReader, 'list'>): (peerOf: PeerOf) => Promise<PreparedBody> {
  let edition: Edition | null = null;
  return async (peerOf) => {
    const listed = await nodes.list();
    if (edition?.nodes !== listed) edition = openEdition(listed);
    // All askers that leave nobody out share the list under the empty name.
    const leftOut =
      ('nodeId' in peerOf ? edition.byId.get(peerOf.nodeId) : edition.byAddress.get(peerOf.address)) ?? '';
    const kept = edition.lists.get(leftOut);
    if (kept !== undefined) return kept;
    const items = listed.filter((node) =>
      'nodeId' in peerOf ? node.id !== peerOf.nodeId : node.ip_address !== peerOf.address,
    );
    const text = JSON.stringify({ items });
    const made = { bytes: Buffer.from(text), tag: contentTag(text) };
    edition.lists.set(leftOut, made);
    return made;
  };
}

/** Names of the lists that leave somebody out: `id …` for a node, `ip …` for all nodes of an address. */
function openEdition(nodes: readonly NodeResource[]): Edition {
  return {
    nodes,
    byId: new Map(nodes.map(({ id }) => [id, `id ${id}`])),
    byAddress: new Map(nodes.map(({ ip_address: address }) => [address, `ip ${address}`])),
    lists: new LRUCache({ maxSize: keptBytesMax, sizeCalculation: ({ bytes }) => bytes.length }),
  };
}
