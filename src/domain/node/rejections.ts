import { CommandRejected } from '../../event-sourcing/ports/errors.js';

export type NodeRejection = 'node_not_found';

export function rejectNode(code: NodeRejection, message: string): never {
  throw new CommandRejected<NodeRejection>(code, message);
}
