// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { entityId, grantSource } from '../fields.js';
import { role } from '../role.js';

/** What a project may be allowed beyond the ordinary; `allow_s3`: binding storages. */
export const entitlement = z.enum(['allow_s3']);
export type Entitlement = z.infer<typeof entitlement>;

const schemas = {
  /** The owner is the first member. */
  ProjectCreated: z.strictObject({ name: z.string().min(1), owner_id: entityId }),
  MemberAdded: z.strictObject({ user_id: entityId, role }),
  /** Kept per source: the project is entitled while one source holds. */
  EntitlementGranted: z.strictObject({ entitlement, source: grantSource }),
  EntitlementRevoked: z.strictObject({ entitlement, source: grantSource }),
  DefaultStorageChanged: z.strictObject({ storage_id: entityId.nullable() }),
};

export type ProjectEvent = EventOf<typeof schemas>;
export const projectCodec = makeEventCodec(schemas);
