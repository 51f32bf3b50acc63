import type { Deps } from '../../shared/deps.js';
import { makeAddNode } from './add-node.js';
import { makeChangeNode } from './change-node.js';
import { makeRemoveNode } from './remove-node.js';
import { makeReportNodeCheck } from './report-node-check.js';

export function makeNodeCommands(deps: Deps) {
  return {
    addNode: makeAddNode(deps),
    changeNode: makeChangeNode(deps),
    removeNode: makeRemoveNode(deps),
    reportNodeCheck: makeReportNodeCheck(deps),
  };
}
