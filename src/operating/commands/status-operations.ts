import { z } from 'zod';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import { defineOperation, type Operation } from '../socket/operation.js';

/**
 * Makes the operation that names each part of the service with its state (src/observing/README.md#health).
 * @param status returns the report of `src/observing/parts.ts`
 */
export function makeStatusOperations(status: () => Promise<JsonValue>): readonly Operation[] {
  return [defineOperation('status', z.strictObject({}), status)];
}
