import type { NodeReader } from '../../../projections/nodes/peer-nodes/reader.js';
import type { NodeCheckReader } from '../../../projections/nodes/peer-nodes/checks.js';
import type { SharedDeps } from '../shared/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface NodeDeps extends SharedDeps {
  readonly nodes: NodeReader;
  readonly nodeChecks: NodeCheckReader;
  /** Counts a check of a node, for metrics. */
  readonly onChecked?: ((ok: boolean) => void) | undefined;
}
