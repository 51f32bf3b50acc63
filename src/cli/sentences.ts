import { z } from 'zod';
import type { JsonValue } from '../event-sourcing/ports/domain-event.js';

/** Makes the function that says what a result of the shape is for a person; null for a result of another shape. */
export function ofShape<Shape extends z.ZodType, Shown>(
  shape: Shape,
  write: (result: z.output<Shape>) => Shown,
): (result: JsonValue) => Shown | null {
  return (result) => {
    const parsed = shape.safeParse(result);
    return parsed.success ? write(parsed.data) : null;
  };
}

const role = z.object({ user_id: z.string(), role: z.string() });
const account = z.object({ user_id: z.string() });
const changed = account.extend({ changed: z.boolean() });
const keyChange = z.object({
  ring: z.string(),
  kid: z.string(),
  changed: z.boolean(),
  next: z.string().nullish(),
});
const entitled = z.object({ project_id: z.string(), entitlement: z.string() });

/** Writes the result of a change of an account. @param done what is true of the account, after its id */
function accountChange(done: string): (result: JsonValue) => string | null {
  return ofShape(
    changed,
    ({ user_id: id, changed: isNew }) => `The account ${id} ${done}.${isNew ? '' : ' It was so before.'}`,
  );
}

/** Writes the result of a change of a ring of keys, and the next step of the rotation. @param done what the key is */
function ringChange(done: string): (result: JsonValue) => string | null {
  return ofShape(keyChange, ({ ring, kid, changed: isNew, next }) => {
    const what = isNew
      ? `The key ${kid} of the ring ${ring} is ${done}.`
      : `The ring ${ring} is unchanged; key ${kid}.`;
    return next === null || next === undefined ? what : `${what}\nNext: ${next}.`;
  });
}

/** What the results of changes mean, by operation. The other results are shown as fields and tables. */
const sentences: Readonly<Record<string, (result: JsonValue) => string | null>> = {
  'platform-role grant': ofShape(
    role,
    ({ user_id: id, role: name }) => `The account ${id} has the role ${name}.`,
  ),
  'platform-role revoke': ofShape(
    role,
    ({ user_id: id, role: name }) => `The account ${id} does not have the role ${name} any more.`,
  ),
  'project grant': ofShape(
    entitled,
    ({ project_id: id, entitlement }) => `The project ${id} is entitled to ${entitlement}.`,
  ),
  'project revoke': ofShape(
    entitled.extend({ held_by: z.array(z.string()) }),
    ({ project_id: id, entitlement, held_by: holders }) =>
      holders.length === 0
        ? `The project ${id} is not entitled to ${entitlement} any more.`
        : `The grant is taken back. The project ${id} is still entitled to ${entitlement} by: ${holders.join(', ')}.`,
  ),
  'user verify': ofShape(account, ({ user_id: id }) => `The address of the account ${id} is verified.`),
  'user sign-out': accountChange('has no session'),
  'user reset-2fa': accountChange('has no second factor'),
  'user ban': accountChange('is banned'),
  'user unban': accountChange('is not banned'),
  'user restore-address': ofShape(
    account.extend({ email: z.string().nullable() }),
    ({ user_id: id, email }) => `The account ${id} has the address ${email ?? 'of before'} again.`,
  ),
  'user erase': ofShape(account, ({ user_id: id }) => `The account ${id} is erased.`),
  'keys promote': ringChange('active'),
  'keys retire': ringChange('retired'),
  'node remove': ofShape(
    z.object({ node_id: z.string() }),
    ({ node_id: id }) => `The node ${id} is removed from every peer list.`,
  ),
  'projection rebuild': ofShape(
    z.object({ name: z.string(), building: z.string() }),
    ({ name, building }) =>
      `The view ${name} is being built as ${building}. Readers switch to it when it has caught up.`,
  ),
  'projection rebuild --wait': ofShape(
    z.object({ name: z.string(), live: z.int(), compared: z.int(), different: z.int() }),
    ({ name, live, compared, different }) =>
      `Readers use generation ${live} of the view ${name}. ` +
      `Of ${compared} compared documents, ${different} ${different === 1 ? 'differs' : 'differ'} from the former generation.`,
  ),
  'projection prune': ofShape(
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
