import { TargetNotFound } from '../../../../event-sourcing/ports/errors.js';

export type NodeRejection = 'node_not_found';

export function rejectNode(code: NodeRejection, message: string): never {
  throw new TargetNotFound<NodeRejection>(code, message);
}
