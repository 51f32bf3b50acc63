import { z } from 'zod';
import { listProblems } from '../../validation/field-problems.js';
import { fieldProblems } from '../../validation/zod-problems.js';
import { defaultLimits } from '../../security/rates/limits.js';
import { ConfigProblem, readJson } from '../sources.js';
import { type WebhookEndpoint, WebhookUrlsProblem, parseEndpoints } from '../../webhooks/endpoint.js';

/** Reads `WEBHOOK_URLS`. @throws ConfigProblem that names the line, and no value */
export function readWebhooks(text: string | undefined): readonly WebhookEndpoint[] {
  try {
    return parseEndpoints(text ?? '');
  } catch (error) {
    if (!(error instanceof WebhookUrlsProblem)) throw error;
    throw new ConfigProblem(`WEBHOOK_URLS: ${error.message}`);
  }
}

/** Named limits of LIMITS_FILE: a number of uses in a number of seconds. */
export type Limits = Readonly<Record<string, { readonly limit: number; readonly seconds: number }>>;

const limitsSchema = z.record(
  z.string(),
  z.strictObject({ limit: z.int().positive(), seconds: z.number().positive() }),
);

/** Reads LIMITS_FILE. @throws ConfigProblem */
export function readLimits(file: string | undefined): Limits {
  if (file === undefined) return {};
  const given = readJson('LIMITS_FILE', file);
  const parsed = limitsSchema.safeParse(given);
  if (parsed.success) {
    const unknown = Object.keys(parsed.data).filter((name) => !Object.hasOwn(defaultLimits, name));
    if (unknown.length === 0) return parsed.data;
    const known = Object.keys(defaultLimits).join(', ');
    throw new ConfigProblem(
      `LIMITS_FILE ${file}: there is no limit named ${unknown.join(', ')}; there are ${known}`,
    );
  }
  throw new ConfigProblem(
    `LIMITS_FILE ${file} must be {"name": {"limit": n, "seconds": s}, …}: ${listProblems(fieldProblems(limitsSchema, given))}`,
  );
}
