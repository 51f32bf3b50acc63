import { z } from 'zod';
import type { Readers } from '../../../projections/readers.js';
import type { Commands } from '../../areas/commands.js';
import { nodeMode, nodeType } from '../../areas/nodes/domain/node/events.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { defineOperation, type Operation } from '../socket/operation.js';

const nodeDescription = z.strictObject({
  name: z.string(),
  ip_address: z.string(),
  node_type: nodeType,
  lb_weight: z.int(),
  lb_enabled: z.boolean(),
  dnsprovider_record_id: z.string(),
  max_capacity_hint: z.int().nullable(),
  note: z.string(),
});
const node = z.strictObject({ node_id: z.uuid().toLowerCase() });

/** Makes the operations on peer nodes (docs/operate.md#commands). */
export function makeNodeOperations(
  {
    commands: { addNode, changeNode, removeNode },
    readers: { nodes },
  }: {
    readonly commands: Pick<Commands, 'addNode' | 'changeNode' | 'removeNode'>;
    readonly readers: Pick<Readers, 'nodes'>;
  },
  context: () => CommandContext,
): readonly Operation[] {
  return [
    defineOperation('node add', nodeDescription, async (description) => {
      const { resource } = await addNode(description, context());
      return resource;
    }),
    defineOperation('node list', z.strictObject({}), async () => ({ items: [...(await nodes.list())] })),
    defineOperation(
      'node change',
      node.extend({ changes: nodeDescription.partial(), mode: nodeMode.optional() }),
      async ({ node_id: nodeId, changes, mode }) => {
        const { resource } = await changeNode({ nodeId, changes, mode }, context());
        return resource;
      },
    ),
    defineOperation('node remove', node, async ({ node_id: nodeId }) => {
      await removeNode({ nodeId }, context());
      return { node_id: nodeId };
    }),
  ];
}
