import { z } from 'zod';
import {
  corsExposedHeaders,
  corsMethods,
  printCorsRule,
  type PrintedCorsRule,
} from '../delivery/cors-rule.js';
import type { StorageProvider } from '../bucket/region.js';

/** What a passed test found, or could not check: src/areas/storages/README.md#browsers. */
export const testWarningCode = z.enum([
  'cors_missing',
  'cdn_cors_missing',
  'cors_unchecked',
  'public_endpoint_unchecked',
  'head_refused',
  'no_multipart',
  'content_disposition_ignored',
]);
export type TestWarningCode = z.infer<typeof testWarningCode>;

export const testWarning = z.strictObject({
  code: testWarningCode,
  /** The origins of pages that it concerns; empty for a warning about no page. */
  origins: z.array(z.string()),
  /** The code of the failed connection, for something that was not checked. */
  cause: z
    .string()
    .regex(/^[a-z_]{1,64}$/)
    .nullable(),
});
export type TestWarning = z.infer<typeof testWarning>;

export interface DescribedWarning {
  readonly code: TestWarningCode;
  readonly message: string;
  /** The CORS configuration to set at the provider; null for a warning about something else. */
  readonly rule: PrintedCorsRule | null;
}

/** By the pages that it concerns, and why something was not checked. */
const messages: Readonly<Record<TestWarningCode, (pages: string, why: string) => string>> = {
  cors_missing: (pages) =>
    `The bucket does not let pages of ${pages} upload files and fetch media. Set the CORS rule: origins ${pages}; ` +
    `methods ${corsMethods.join(', ')}; all headers; exposed headers ${corsExposedHeaders.join(', ')}. ` +
    'POST …/cors sets it where the key has the permission.',
  cdn_cors_missing: (pages) =>
    `cdn_domain does not let pages of ${pages} fetch media. Let the CDN pass OPTIONS and the header Origin on to the ` +
    'bucket, or let it answer with the rule itself.',
  cors_unchecked: (pages, why) =>
    `The preflights of pages of ${pages} got no answer${why}. Test again to check the CORS rules.`,
  public_endpoint_unchecked: (_, why) =>
    `This service cannot reach the public endpoint${why}. The test did not check uploads and media there. Check them in a ` +
    'browser that can reach it.',
  // What a bucket cannot do. Nothing is wrong with the storage.
  head_refused: () =>
    'The bucket, or a proxy before it, gives no usable answer to HEAD. The service reads the first byte of a file in its place.',
  no_multipart: () =>
    'The bucket has no uploads in parts that the service can use. Files are uploaded in one request, up to 5 GiB.',
  content_disposition_ignored: () =>
    'The bucket ignores response-content-disposition. Downloads open in the browser, and are saved under the last part of their key.',
};

/** Describes a warning for the owner of the storage, with the rule to set. It contains no text of the provider. */
export function describeWarning(
  { code, origins, cause }: TestWarning,
  provider: StorageProvider,
): DescribedWarning {
  const message = messages[code](origins.join(', '), cause === null ? '' : ` (${cause})`);
  const needsRule = code === 'cors_missing' || code === 'cdn_cors_missing';
  return { code, message, rule: needsRule ? printCorsRule(provider, origins) : null };
}
