import { LRUCache } from 'lru-cache';
import type { NodeReader, NodeResource, PeerOf } from '../../projections/peer-nodes/reader.js';
import { contentTag } from './etag.js';
import type { Clock } from '../event-sourcing/ports/clock.js';
import type { PreparedBody } from './reply.js';

/** The largest size of the cached lists in bytes. Each requesting node has a different list. */
const keptBytesMax = 16 * 1024 * 1024;

interface Edition {
  readonly nodes: readonly NodeResource[];
  readonly byId: ReadonlyMap<string, string>;
  readonly byAddress: ReadonlyMap<string, string>;
  readonly lists: LRUCache<string, PreparedBody>;
}

/**
 * Makes the function that serves peer lists. It serialises and tags a list once for each state of the nodes and each
 * requesting node. The reader returns the same array while nothing has changed, or within a second if its store cannot
 * detect that (docs/design.md#peer-nodes).
 */
export function makePeerLists({
  nodes,
  clock,
}: {
  readonly nodes: Pick<NodeReader, 'list'>;
  readonly clock: Clock;
}): (peerOf: PeerOf) => Promise<PreparedBody> {
  let edition: Edition | null = null;
  return async (peerOf) => {
    const listed = await nodes.list({ now: clock.now() });
    if (edition?.nodes !== listed) edition = openEdition(listed);
    // All callers that exclude no node share the list under the empty name.
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

/** The names of the lists: `id …` excludes one node, `ip …` all nodes of an address. */
function openEdition(nodes: readonly NodeResource[]): Edition {
  return {
    nodes,
    byId: new Map(nodes.map(({ id }) => [id, `id ${id}`])),
    byAddress: new Map(nodes.map(({ ip_address: address }) => [address, `ip ${address}`])),
    lists: new LRUCache({ maxSize: keptBytesMax, sizeCalculation: ({ bytes }) => bytes.length }),
  };
}
