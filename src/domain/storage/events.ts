// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { entityId } from '../fields.js';
import { storageProvider } from './provider.js';

const schemas = {
  /** Fields that were not given are `''`. */
  StorageCreated: z.strictObject({
    project_id: entityId,
    name: z.string().min(1),
    provider: storageProvider,
    endpoint: z.string(),
    bucket: z.string().min(1),
    region: z.string(),
    base_path: z.string(),
    cdn_domain: z.string(),
    /** Counts the credentials; each version is sealed under a key of its own. */
    credentials_version: z.int().positive(),
    /** By the provider's own names, each sealed under its name. */
    credentials: z.record(z.string(), sealedSchema),
  }),
};

export type StorageEvent = EventOf<typeof schemas>;
export const storageCodec = makeEventCodec(schemas);
