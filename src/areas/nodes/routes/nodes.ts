import type { NodeDeps } from '../deps.js';
import type { NodeCommands } from '../commands/nodes.js';
import { z } from 'zod';
import type { Clock } from '../../../kit/time/clock.js';
import { makePeerLists } from './peer-lists.js';
import { nodeResource } from '../../../../projections/nodes/peer-nodes/resource.js';
import { noContent } from '../../../http/replies/reply.js';
import { noBody, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

const peerQuery = z.object({
  node_id: z
    .string()
    .meta({
      description:
        'The asking node, which is left out. When absent, nodes with the address that the request comes from are left out.',
    })
    .optional(),
});

const errorCharactersMax = 500;

const nodeCheckReport = z
  .strictObject({
    ok: z.boolean().meta({ description: 'Whether the node answered as it should.' }),
    latency_ms: z.number().min(0).optional().meta({ description: 'The time of the check.' }),
    error: z
      .string()
      .refine(
        (text) => Array.from(text).length <= errorCharactersMax,
        `must have at most ${errorCharactersMax} characters`,
      )
      .meta({ description: 'Why the check failed, for people.', maxLength: errorCharactersMax })
      .optional(),
  })
  .meta({ id: 'NodeCheckReport' });

export const nodeParams = z.object({ nodeId: z.uuid().toLowerCase() });

/**
 * Makes the routes of edge agents (src/areas/nodes/README.md#peer-nodes, src/areas/nodes/README.md#node-checks,
 * docs/api.md#43-get-apiv1internalpeer-list).
 */
export function makeNodeRoutes({
  reportNodeCheck,
  ...deps
}: Pick<NodeCommands, 'reportNodeCheck'> &
  Pick<NodeDeps, 'nodes'> & { readonly clock: Clock }): readonly Route[] {
  const peerLists = makePeerLists(deps);
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/internal/peer-list',
      name: 'listPeers',
      tag: 'Nodes',
      summary: 'Peer nodes, except the caller',
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
    defineRoute({
      method: 'POST',
      path: '/api/v1/internal/nodes/:nodeId/checks',
      name: 'reportNodeCheck',
      tag: 'Nodes',
      summary: 'Report the result of a health check of a node',
      description:
        'Three failures in a row make a node `unhealthy`, two successes make it `healthy`, and a failure makes a healthy ' +
        'node `degraded`. A node without a report for a minute is `unknown`. A repetition of a report counts again.',
      request: { params: nodeParams, query: noQuery, body: nodeCheckReport },
      replies: { 204: { description: 'The result is counted.', schema: noContent } },
      limit: { name: 'node_checks', counts: [204], by: 'nodeId' },
      handler: async ({ params: { nodeId }, body: { ok }, command }) => {
        await reportNodeCheck({ nodeId, ok }, command);
        return { status: 204, body: undefined };
      },
    }),
  ];
}
