import type { NodeDeps } from '../deps.js';
import { makeReportNodeCheck } from './checks.js';
import { makeNodes } from './nodes.js';

export type NodeCommands = ReturnType<typeof makeNodeCommands>;

export function makeNodeCommands(deps: NodeDeps) {
  return { ...makeNodes(deps), reportNodeCheck: makeReportNodeCheck(deps) };
}
