import { z } from 'zod';
import { role } from '../domain/role.js';
import { scope } from '../domain/scope.js';

/** RFC 3339, UTC, milliseconds. */
const time = z.iso.datetime({ precision: 3 });

/** `user` of DESIGN 4.1. */
export const user = z
  .strictObject({
    id: z.uuid(),
    email: z.string(),
    nickname: z.string(),
    email_verified: z.boolean(),
    two_factor_enabled: z.boolean(),
    capacity_bytes: z.int(),
    used_bytes: z.int(),
    created_at: time,
  })
  .meta({ id: 'User' });

/** `tokens` of DESIGN 4.1; times in seconds. */
export const tokens = z
  .strictObject({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().positive(),
    refresh_expires_in: z.int().positive(),
  })
  .meta({ id: 'Tokens' });

/** One of the caller's sessions (DESIGN 4.1). */
export const session = z
  .strictObject({
    id: z.uuid(),
    current: z.boolean().meta({ description: 'The one that asks.' }),
    methods: z
      .array(z.enum(['pwd', 'email', 'otp']))
      .meta({ description: 'By password, by a mailed code; with a second factor.' }),
    created_at: time,
    last_used_at: time.meta({ description: 'When it was last given tokens.' }),
    strengthened_at: time.nullable().meta({ description: 'When it last passed a second factor.' }),
    expires_at: time.meta({ description: 'When it ends unless it is used again.' }),
    user_agent: z.string().nullable(),
  })
  .meta({ id: 'Session' });

/** `project` of DESIGN 4.2, as one member sees it. */
export const project = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    role,
    require_2fa: z.boolean(),
    entitlements: z.strictObject({ allow_s3: z.boolean() }),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Project' });

/** A member of a project, or somebody invited: DESIGN 4.2. */
export const member = z
  .strictObject({
    id: z.uuid().meta({ description: 'Of the user; of the invitation while `status` is `invited`.' }),
    email: z.string().nullable().meta({ description: 'Null for callers who are neither admin nor owner.' }),
    nickname: z.string().nullable().meta({ description: 'Null while `status` is `invited`.' }),
    role,
    status: z.enum(['active', 'invited']),
    joined_at: time.nullable().meta({ description: 'Null while `status` is `invited`.' }),
    invited_at: time.nullable().meta({ description: 'Null unless `status` is `invited`.' }),
  })
  .meta({ id: 'Member' });

/** An API key as it is listed: DESIGN 4.2. */
export const apiKey = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    prefix: z.string().meta({ description: 'The first characters of the key.' }),
    last_four: z.string(),
    scopes: z.array(scope),
    expires_at: time,
    issued_by: z.uuid().meta({ description: 'The id of a user.' }),
    created_at: time,
  })
  .meta({ id: 'ApiKey' });

/** The storage configuration of the API document, 2.1. No reply carries credentials. */
export const storage = z
  .strictObject({
    id: z.uuid(),
    project_id: z.uuid(),
    name: z.string(),
    provider: z.enum(['oss', 'cos', 's3']),
    endpoint: z.string(),
    bucket: z.string(),
    region: z.string(),
    base_path: z.string(),
    cdn_domain: z.string(),
    status: z.enum(['pending', 'testing', 'active', 'failed', 'disabled']),
    is_default: z.boolean(),
    last_test_at: time.nullable(),
    last_error: z.string(),
    has_credentials: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Storage' });

/** An asset: DESIGN 4.4. */
export const asset = z
  .strictObject({
    id: z.uuid(),
    project_id: z.uuid(),
    storage_id: z.uuid(),
    name: z.string(),
    object_key: z.string(),
    media_type: z.string(),
    size: z.int(),
    renditions: z.array(z.strictObject({ kind: z.string(), object_key: z.string(), media_type: z.string() })),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Asset' });

/** A share as members see it: DESIGN 4.4. */
export const share = z
  .strictObject({
    id: z.uuid(),
    project_id: z.uuid(),
    asset_id: z.uuid(),
    token: z.string().meta({ description: '22 characters; part of `url`.' }),
    url: z.string().meta({ description: 'Where people open it.' }),
    expires_at: time.nullable().meta({ description: 'Null: never.' }),
    max_uses: z
      .int()
      .nullable()
      .meta({ description: 'How often its password may be used. Null: any number.' }),
    remaining_uses: z.int().nullable().meta({ description: 'Null where uses are not limited.' }),
    allow_download: z.boolean(),
    throttled_at: time.nullable().meta({
      description: 'When many wrong passwords were last noticed. It is told once an hour at most.',
    }),
    created_by: z
      .uuid()
      .nullable()
      .meta({ description: 'The id of a user; null where an API key created it.' }),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Share' });

/** One time that a share was opened. */
export const shareAccess = z
  .strictObject({
    id: z.uuid(),
    at: time,
    client_ip_digest: z.string().nullable().meta({
      description:
        "Keyed digest of the visitor's address: the same address, the same digest. Null: not known.",
    }),
  })
  .meta({ id: 'ShareAccess' });

/** A URL that one of an asset's files can be fetched from: DESIGN 4.4. */
export const mediaLink = z
  .strictObject({
    kind: z.string().meta({ description: '`original`, or the kind of a rendition.' }),
    url: z.string(),
    method: z.literal('GET'),
    media_type: z.string(),
    expires_at: time,
  })
  .meta({ id: 'MediaLink' });

/** The peer node item of the API document, 2.3. */
export const peerNode = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    node_type: z.enum(['normal', 'high_defense']),
    ip_address: z.union([z.ipv4(), z.ipv6()]),
    ip_version: z.union([z.literal(4), z.literal(6)]),
    dnsprovider_record_id: z.string(),
    lb_weight: z.int().min(0).max(100),
    lb_enabled: z.boolean(),
    max_capacity_hint: z.int().nullable(),
    status: z.enum(['unknown', 'healthy', 'degraded', 'unhealthy', 'draining', 'maintenance']),
    consecutive_failures: z.int().min(0),
    consecutive_successes: z.int().min(0),
    last_checked_at: time.nullable(),
    status_changed_at: time.nullable(),
    note: z.string(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'PeerNode' });

/** The generic wrapper of the API document, 2.4. */
export function wrapped<Data extends z.ZodType>(data: Data) {
  return z.strictObject({ code: z.literal('ok'), message: z.literal('ok'), data });
}

/** A body in the wrapper. */
export function wrap<Data>(data: Data): { code: 'ok'; message: 'ok'; data: Data } {
  return { code: 'ok', message: 'ok', data };
}
