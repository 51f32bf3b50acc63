import { z } from 'zod';
import type { JsonValue } from '../event-sourcing/ports/domain-event.js';

/** Makes the function that writes a result of the shape as a sentence; null for a result of another shape. */
function sentence<Shape extends z.ZodType>(
  shape: Shape,
  write: (result: z.output<Shape>) => string,
): (result: JsonValue) => string | null {
  return (result) => {
    const parsed = shape.safeParse(result);
    return parsed.success ? write(parsed.data) : null;
  };
}

const role = z.object({ user_id: z.string(), role: z.string() });
const entitled = z.object({ project_id: z.string(), entitlement: z.string() });

/** What the results of changes mean, by operation. The other results are shown as fields and tables. */
const sentences: Readonly<Record<string, (result: JsonValue) => string | null>> = {
  'platform-role grant': sentence(
    role,
    ({ user_id: id, role: name }) => `The account ${id} has the role ${name}.`,
  ),
  'platform-role revoke': sentence(
    role,
    ({ user_id: id, role: name }) => `The account ${id} does not have the role ${name} any more.`,
  ),
  'project grant': sentence(
    entitled,
    ({ project_id: id, entitlement }) => `The project ${id} is entitled to ${entitlement}.`,
  ),
  'project revoke': sentence(
    entitled.extend({ held_by: z.array(z.string()) }),
    ({ project_id: id, entitlement, held_by: holders }) =>
      holders.length === 0
        ? `The project ${id} is not entitled to ${entitlement} any more.`
        : `The grant is taken back. The project ${id} is still entitled to ${entitlement} by: ${holders.join(', ')}.`,
  ),
  'node remove': sentence(
    z.object({ node_id: z.string() }),
    ({ node_id: id }) => `The node ${id} is removed from every peer list.`,
  ),
  'projection rebuild': sentence(
    z.object({ name: z.string(), building: z.string() }),
    ({ name, building }) =>
      `The view ${name} is being built as ${building}. Readers switch to it when it has caught up.`,
  ),
  'projection rebuild --wait': sentence(
    z.object({ name: z.string(), live: z.int(), compared: z.int(), different: z.int() }),
    ({ name, live, compared, different }) =>
      `Readers use generation ${live} of the view ${name}. ` +
      `Of ${compared} compared documents, ${different} ${different === 1 ? 'differs' : 'differ'} from the former generation.`,
  ),
  'projection prune': sentence(
    z.object({ dropped_collections: z.array(z.string()), dropped_records: z.array(z.string()) }),
    ({ dropped_collections: collections, dropped_records: records }) => {
      const all = [...collections, ...records];
      return all.length === 0 ? 'There is nothing to drop.' : `Dropped: ${all.join(', ')}.`;
    },
  ),
};

/** Returns the sentence about the result of an operation; null for a result that is shown as fields or a table. */
export function sentenceAbout(operation: string, result: JsonValue): string | null {
  return sentences[operation]?.(result) ?? null;
}
