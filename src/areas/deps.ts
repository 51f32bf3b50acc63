import type { NodeDeps } from './nodes/deps.js';
import type { PaymentDeps } from './payments/deps.js';
import type { ShareDeps } from './shares/deps.js';

/** The collaborators of the use cases of all areas. */
export interface Deps extends ShareDeps, PaymentDeps, NodeDeps {}
