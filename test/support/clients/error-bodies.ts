import { z } from 'zod';

const plainBody = z.strictObject({
  code: z.string(),
  message: z.string().max(1_200),
  reason: z.string().optional(),
});

const problemBody = z.strictObject({
  type: z.url(),
  title: z.string().min(1),
  status: z.int(),
  detail: z.string().min(1).max(1_200),
  code: z.string(),
  reason: z.string().optional(),
  errors: z
    .array(z.strictObject({ field: z.string(), code: z.string(), message: z.string().min(1) }))
    .max(20),
});

/** An error as the service tells it, in either form. */
export interface ReceivedError {
  readonly code: string;
  readonly message: string;
}

/**
 * Words of zod, of JSON parsers, of body parsers and of JavaScript, none of which says to a client what to do.
 */
export const libraryWording =
  /Invalid (?:input|option|string|number|key|element|value|discriminator|UUID|GUID|URL|ISO|email|date)|\breceived\b|expected (?:one of|string|number|int\b|boolean|array|object|record|nonoptional)|Unrecognized|Too (?:big|small)|must match pattern|Unexpected (?:token|end|non-whitespace|string|number)|at position \d|in JSON|NaN|undefined|\[object|entity too large|request aborted|Zod/;

/** Returns an error from a reply of the service; null for any other body. */
export function readError(contentType: string, text: string): ReceivedError | null {
  const json = asJson(text);
  if (contentType.startsWith('application/problem+json')) {
    const { data } = problemBody.safeParse(json);
    return data === undefined ? null : { code: data.code, message: data.detail };
  }
  return plainBody.safeParse(json).data ?? null;
}

/** Parses JSON; undefined for any other text. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
