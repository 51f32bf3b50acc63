import type { Readers } from '../../../projections/readers.js';
import { z } from 'zod';
import type { Clock } from '../../event-sourcing/ports/clock.js';
import { makePeerLists } from '../peer-lists.js';
import { nodeResource } from '../../../projections/peer-nodes/resource.js';
import { noBody, noParams } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';

const peerQuery = z.object({
  node_id: z
    .string()
    .meta({
      description:
        'The asking node, which is left out. When absent, nodes with the address that the request comes from are left out.',
    })
    .optional(),
});

/** Makes the routes of peer nodes (docs/design.md#peer-nodes, docs/api.md#43-get-apiv1internalpeer-list). */
export function makeNodeRoutes(deps: Pick<Readers, 'nodes'> & { readonly clock: Clock }): readonly Route[] {
  const peerLists = makePeerLists(deps);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/internal/peer-list',
      name: 'listPeers',
      tag: 'Nodes',
      summary: 'All peer nodes but the asking one',
      request: { params: noParams, query: peerQuery, body: noBody },
      replies: {
        200: { description: 'The nodes.', schema: z.strictObject({ items: z.array(nodeResource) }) },
      },
      entityTag: true,
      handler: async ({ query: { node_id: nodeId }, client }) => ({
        status: 200,
        prepared: await peerLists(nodeId === undefined ? { address: client } : { nodeId }),
      }),
    }),
  ];
}
