import type { NodeDeps } from '../deps.js';
import { makeAddNode } from './add-node.js';
import { makeChangeNode } from './change-node.js';
import { makeRemoveNode } from './remove-node.js';
import { makeReportNodeCheck } from './report-node-check.js';

export type NodeCommands = ReturnType<typeof makeNodeCommands>;

export function makeNodeCommands(deps: NodeDeps) {
  return {
    addNode: makeAddNode(deps),
    changeNode: makeChangeNode(deps),
    removeNode: makeRemoveNode(deps),
    reportNodeCheck: makeReportNodeCheck(deps),
  };
}
