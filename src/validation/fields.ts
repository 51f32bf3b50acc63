import { z } from 'zod';

/** An id that the service makes: UUIDv7 (RFC 9562), lower case. The schema accepts every UUID. */
export const entityId = z.uuid();

/** The id of nothing (RFC 9562, 5.9): the work on what is absent takes as long as that on something else. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** A time: RFC 3339, UTC, milliseconds. */
export const instant = z.iso.datetime({ precision: 3 });

/** A keyed digest or SHA-256 in lower-case hexadecimal. */
export const hexDigest = z.string().regex(/^[0-9a-f]{64}$/);

/** The source of a grant of capacity or of an entitlement. An id names an order. */
export const grantSource = z.union([z.enum(['registration', 'operator']), entityId]);
export type GrantSource = z.infer<typeof grantSource>;

/** The outcome of a mail: the mail server accepted it, refused it permanently, or answered none of its copies. */
export const mailOutcome = z.enum(['accepted', 'refused', 'unknown']);
export type MailOutcome = z.infer<typeof mailOutcome>;

/** Whether a client signed in to the account from its network before (src/security/README.md#known-devices). */
export const requester = z.enum(['known', 'unknown']);
export type Requester = z.infer<typeof requester>;

/** The changes to an account, and the attacks on it, about which its user gets a mail. */
export const securityNoticeKind = z.enum([
  'password_changed',
  'email_changed',
  'email_change_reverted',
  'two_factor_on',
  'two_factor_off',
  'recovery_code_used',
  'recovery_codes_replaced',
  'account_reclaimed',
  'account_guessed_at',
  'share_guessed_at',
  'share_opened',
  'passkey_added',
  'passkey_removed',
  'passkey_refused',
]);
export type SecurityNoticeKind = z.infer<typeof securityNoticeKind>;

/** What other members do about which the member gets a mail. */
export const memberNoticeKind = z.enum(['role_given', 'owner_offered', 'payer_offered', 'both_offered']);
export type MemberNoticeKind = z.infer<typeof memberNoticeKind>;

/** A size in bytes. */
export const byteCount = z.int().nonnegative();

/** Returns the fields that have a value: a field that is left out may be there as undefined. */
export function definedOf<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}

/** Returns an object without the fields of these names. */
export function withoutFields<Fields extends object, Name extends keyof Fields & string>(
  fields: Fields,
  names: readonly Name[],
): Omit<Fields, Name> {
  const left = Object.entries(fields).filter(([name]) => !names.some((leftOut) => leftOut === name));
  return Object.fromEntries(left) as Omit<Fields, Name>;
}

/** Makes the schema of an object without other fields, which the published document names. */
export function namedObject<Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return z.strictObject(shape).meta({ id });
}
