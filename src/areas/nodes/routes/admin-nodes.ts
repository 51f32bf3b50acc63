import type { NodeDeps } from '../deps.js';
import { z } from 'zod';
import { orderedQuery, pageOf, readOrderedPage } from '../../../../projections/paging.js';
import {
  nodeSorts,
  operatedNode,
  type OperatedNode,
} from '../../../../projections/nodes/peer-nodes/resource.js';
import { type NodeCommands, describeNewNode } from '../commands/nodes.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { namePattern } from '../../../validation/text.js';
import { noParams } from '../../../http/route-spec.js';
import {
  type Route,
  created,
  current,
  empty,
  finished,
  json,
  ok,
  routesOf,
  missing,
} from '../../../http/route.js';
import { nodeParams } from './peer-lists.js';

const path = '/api/v1/admin/nodes';

const { mode, node_type: nodeType } = operatedNode.shape;
const fields = {
  name: z
    .string()
    .max(256)
    .meta({ minLength: 1, maxLength: 64, pattern: namePattern, examples: ['edge-1'] }),
  node_type: nodeType,
  ip_address: z
    .string()
    .max(64)
    .meta({ description: 'IPv4 or IPv6.', examples: ['192.0.2.10'] }),
  dnsprovider_record_id: z.string().max(510).meta({ maxLength: 255 }),
  lb_weight: z.int().min(0).max(100),
  lb_enabled: z.boolean(),
  max_capacity_hint: z.int().min(0).nullable(),
  note: z.string().max(2_000).meta({ maxLength: 1_000 }),
};
const nodeChange = z
  .strictObject({ ...fields, mode })
  .partial()
  .meta({ id: 'NodeChange' });
const nodeCreation = z
  .strictObject(fields)
  .partial()
  .required({ name: true, ip_address: true })
  .meta({ id: 'NodeCreation' });

const nodeQuery = orderedQuery(nodeSorts).extend({
  status: operatedNode.shape.status.optional(),
  node_type: operatedNode.shape.node_type.optional(),
});

/** Makes the routes of operators for peer nodes (src/areas/nodes/README.md#peer-nodes). */
export function makeAdminNodeRoutes(deps: NodeCommands & Pick<NodeDeps, 'nodes'>): readonly Route[] {
  const { addNode, changeNode, removeNode, nodes } = deps;
  const route = routesOf({ tag: 'Nodes', path, params: nodeParams });
  return [
    route('createNode', 'POST', {
      summary: 'Register a node',
      request: { params: noParams, body: nodeCreation },
      replies: { 201: json('The node, `unknown` until it is checked.', operatedNode) },
      entityTag: true,
      idempotent: true,
      isGone: async ({ id }) => (await nodes.find(id)) === null,
      check: ({ body }) => describeNewNode(body),
      handler: async ({ body, command }) => created(await addNode(body, command), path),
    }),
    route('listNodes', 'GET', {
      summary: 'All nodes, oldest first',
      request: { params: noParams, query: nodeQuery },
      replies: { 200: json('A page of nodes.', pageOf(operatedNode)) },
      handler: async ({ query: { status, node_type, ...query } }) =>
        ok(
          await readOrderedPage(query, (page) =>
            nodes.page({ ...page, sort: query.sort }, { status, node_type }),
          ),
        ),
    }),
    route('getNode', 'GET /:nodeId', {
      summary: 'One node',
      replies: { 200: json('The node.', operatedNode) },
      entityTag: true,
      handler: async ({ params: { nodeId } }) => current(await findNode(nodeId)),
    }),
    route('changeNode', 'PATCH /:nodeId', {
      summary: 'Change a node, or its mode',
      description:
        'While the mode is `draining` or `maintenance`, it is the status of the node. Checks go on, and `health` shows what they find.',
      request: { body: nodeChange },
      replies: { 200: json('The node.', operatedNode) },
      ifMatch: true,
      handler: async ({ params: { nodeId }, body, command, expectedRevision }) => {
        const { mode: wanted, ...changes } = body;
        return current(await changeNode({ nodeId, changes, mode: wanted }, command, { expectedRevision }));
      },
    }),
    route('removeNode', 'DELETE /:nodeId', {
      summary: 'Remove a node',
      replies: { 204: empty('The node is in no peer list any more.') },
      ifMatch: true,
      handler: async ({ params: { nodeId }, command, expectedRevision }) => {
        // The command takes a repetition. Over HTTP a removed node is gone.
        await findNode(nodeId);
        return finished(removeNode({ nodeId }, command, { expectedRevision }));
      },
    }),
  ];

  async function findNode(nodeId: string): Promise<Versioned<OperatedNode>> {
    return (await nodes.find(nodeId)) ?? missing('there is no such node');
  }
}
