import { escapeMarkup } from '../../../../validation/text.js';
import type { StorageProvider } from '../bucket/bucket.js';

/** The methods of browsers that upload files and play media. */
export const corsMethods = ['GET', 'HEAD', 'PUT'] as const;
/** The headers of replies that a page may read: the tag of an uploaded part, and the place of a fetched one. */
export const corsExposedHeaders = ['ETag', 'Content-Range'] as const;
const maxAgeSeconds = 3_600;

/** A field of a rule: the name of its element and its text. */
type CorsField = readonly [name: string, value: string];

/** Returns the fields of the rule that lets pages of the origins upload and fetch. S3, OSS and COS share its form. */
export function corsRuleFields(origins: readonly string[]): readonly CorsField[] {
  return [
    ...origins.map((origin): CorsField => ['AllowedOrigin', origin]),
    ...corsMethods.map((method): CorsField => ['AllowedMethod', method]),
    ['AllowedHeader', '*'],
    ...corsExposedHeaders.map((header): CorsField => ['ExposeHeader', header]),
    ['MaxAgeSeconds', String(maxAgeSeconds)],
  ];
}

/** Writes a rule as XML. */
export function corsRuleXml(origins: readonly string[]): string {
  const fields = corsRuleFields(origins).map(([name, value]) => `<${name}>${escapeMarkup(value)}</${name}>`);
  return `<CORSRule>${fields.join('')}</CORSRule>`;
}

/** A whole CORS configuration in the form that the provider's tools take. */
export type PrintedCorsRule = { readonly format: 'json' | 'xml'; readonly text: string };

/**
 * Prints the rule for the provider's tools: JSON for Amazon's console and `aws s3api put-bucket-cors`, XML for `ossutil
 * cors` and for `PutBucketCors` of OSS and COS.
 */
export function printCorsRule(provider: StorageProvider, origins: readonly string[]): PrintedCorsRule {
  if (provider !== 's3')
    return { format: 'xml', text: `<CORSConfiguration>${corsRuleXml(origins)}</CORSConfiguration>` };
  const rule = {
    AllowedOrigins: origins,
    AllowedMethods: corsMethods,
    AllowedHeaders: ['*'],
    ExposeHeaders: corsExposedHeaders,
    MaxAgeSeconds: maxAgeSeconds,
  };
  return { format: 'json', text: JSON.stringify([rule]) };
}
