import { z } from 'zod';

/** An id of ours: UUIDv7 (RFC 9562), lower case. */
export const entityId = z.uuid();

/** A moment: RFC 3339, UTC, milliseconds. */
export const instant = z.iso.datetime({ precision: 3 });

/** A keyed digest or SHA-256 in lower-case hexadecimal. */
export const hexDigest = z.string().regex(/^[0-9a-f]{64}$/);

/** What a grant of capacity or of an entitlement comes from; an order is named by its id. */
export const grantSource = z.union([z.enum(['registration', 'operator']), entityId]);
export type GrantSource = z.infer<typeof grantSource>;

/** What became of a mail: the mail server took it over, or refused it for good. */
export const mailOutcome = z.enum(['accepted', 'refused']);
export type MailOutcome = z.infer<typeof mailOutcome>;

/** What a person is told of by mail when it happens to their account. */
export const securityNoticeKind = z.enum([
  'password_changed',
  'email_changed',
  'two_factor_on',
  'two_factor_off',
  'recovery_code_used',
  'recovery_codes_replaced',
]);
export type SecurityNoticeKind = z.infer<typeof securityNoticeKind>;

/** A size in bytes. */
export const byteCount = z.int().nonnegative();
