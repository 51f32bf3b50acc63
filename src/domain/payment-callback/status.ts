import { z } from 'zod';

/** The outcome of a settled payment callback. */
export const disposition = z.enum(['applied', 'already_applied', 'mismatch', 'ignored']);
export type Disposition = z.infer<typeof disposition>;
