import { z } from 'zod';
import type { NodeReader } from '../../../projections/peer-nodes/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { makePeerLists } from '../peer-lists.js';
import { peerNode } from '../resources.js';
import { noBody, noParams } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

const peerQuery = z.object({
  node_id: z
    .string()
    .meta({
      description:
        'The asking node, which is left out. When absent, nodes with the address that the request comes from are left out.',
    })
    .optional(),
});

/** Nodes: API document 4.3, DESIGN 4.6. */
export function makeNodeRoutes({ nodes }: { readonly nodes: Pick<NodeReader, 'list'> }): readonly Route[] {
  const peerLists = makePeerLists(nodes);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/internal/peer-list',
      name: 'listPeers',
      tag: 'Nodes',
      summary: 'All peer nodes but the asking one',
      access: accessMatrix.listPeers,
      request: { params: noParams, query: peerQuery, body: noBody },
      replies: { 200: { description: 'The nodes.', schema: z.strictObject({ items: z.array(peerNode) }) } },
      errors: [],
      entityTag: true,
      handler: async ({ query: { node_id: nodeId }, client }) => ({
        status: 200,
        prepared: await peerLists(nodeId === undefined ? { address: client } : { nodeId }),
      }),
    }),
  ];
}
