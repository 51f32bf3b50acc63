import { escapeMarkup } from '../../validation/text.js';

/** A call of the way from a sign-up to a shared file. */
interface FirstCall {
  readonly call: string;
  readonly body: string;
  /** Ends with a full stop. */
  readonly then: string;
}

/** The calls with which the document of the API and its page begin. */
const firstCalls: readonly FirstCall[] = [
  {
    call: 'POST /api/v1/auth/register',
    body: '{"email": "ada@example.org", "password": "Correct-Horse-9"}',
    then: 'Returns the access token for the header `Authorization: Bearer` of the calls below.',
  },
  {
    call: 'POST /api/v1/projects',
    body: '{"name": "Film"}',
    then: 'Returns the project. An operator allows it to bind storages: `stowage project grant <id> allow_s3`.',
  },
  {
    call: 'POST /api/v1/projects/{projectId}/storages',
    body: '{"name": "Rushes", "provider": "s3", "bucket": "rushes", "region": "eu-central-1", "credentials": {"access_key": "…", "secret_key": "…"}}',
    then: 'Binds a bucket; `…/{storageId}/test` tests it.',
  },
  {
    call: 'POST /api/v1/projects/{projectId}/assets',
    body: '{"name": "Rhine at dawn", "object_key": "rhine.mp4", "media_type": "video/mp4", "size": 100000}',
    then: 'Describes a file; `…/{assetId}/upload-url` returns where the bucket takes it.',
  },
  {
    call: 'POST /api/v1/projects/{projectId}/shares',
    body: '{"asset_id": "…", "password": "open sesame", "max_uses": 20}',
    then: 'Returns the `url` that visitors open.',
  },
];

const firstCallsTitle = 'Five calls from a sign-up to a shared file';

/** Returns the calls in Markdown. */
function describeFirstCalls(): string {
  const steps = firstCalls.map(
    ({ call, body, then }, index) => `${index + 1}. \`${call}\` \`${body}\` ${then}`,
  );
  return [`**${firstCallsTitle}**`, steps.join('\n')].join('\n\n');
}

/** Returns the calls in HTML. */
export function renderFirstCalls(): string {
  const steps = firstCalls.map(
    ({ call, body, then }) =>
      `<li><code>${escapeMarkup(call)}</code> <code>${escapeMarkup(body)}</code> ${escapeMarkup(then).replace(/`([^`]+)`/g, '<code>$1</code>')}</li>`,
  );
  return `<h2>${firstCallsTitle}</h2>\n<ol>\n${steps.join('\n')}\n</ol>`;
}

/** A part of the document. */
export type Json = Record<string, unknown>;

/** Whether a schema is of what the service receives, or of what it sends. */
export type Io = 'input' | 'output';

/** What the operations of each tag are about. A test checks that no tag is missing. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  Accounts: 'Registration, sign-in, sessions, the second factor, passkeys and invitations of one person.',
  Projects: 'Projects, their settings and whose capacity they use.',
  Members: 'Who works on a project, and in which role.',
  'API keys': 'Keys by which programs work on one project.',
  Storages: 'The buckets that a project brings, and how their files are delivered.',
  Assets: 'Files in the buckets: what they are, how they are uploaded, and URLs for them.',
  Shares: 'Links that show assets to visitors, behind a password or without one.',
  Orders: 'Plans that can be bought, and orders for them.',
  Payments: 'Callbacks of payment platforms, and the payments that operators decide on.',
  Nodes: 'Edge nodes: what agents read and report, and what operators change.',
  'Audit log': 'The log of all events, with proofs for auditors.',
  Service: 'Health, keys and documents of the service itself.',
};

/** Returns the description of the whole API. @param passwordRules the rules for a new password, for people */
export function describeApi(passwordRules: string): string {
  return [
    describeFirstCalls(),
    'Bodies are JSON. Errors are `{"code", "message"}`, or `application/problem+json` for clients that ask for it. Replies below `/api/v1/auth` and ' +
      '`/api/v1/shares` are wrapped: `{"code": "ok", "message": "ok", "data": …}`. All other replies are bare. A list is ' +
      '`{"items", "next_cursor"}`; a wrapped list has it as `data`.',
    'HEAD is served wherever GET is; a wrong method is 405 `method_not_allowed` with `Allow`, an unknown path 404 ' +
      '`not_found`. With TOTP on, a session is refused with 403 `two_factor_required` until it has passed ' +
      'a second factor. Before the service is ready, all but /healthz, /readyz, /openapi.json, /docs, /guides, /.well-known/jwks.json and ' +
      'payment callbacks answer 503.',
    'The access of an operation names the role in the project and the scopes of API keys that it admits. ' +
      'Second factors are passkeys (`POST /auth/reauthenticate`) and, weaker, TOTP (`POST /auth/2fa/verify`); a recovery code counts as ' +
      'either. An operation may need a fresh factor, passed by the session within the last 15 minutes, else 403 `two_factor_required`, ' +
      'whose message names the ways that the account has. Of an account without a factor it may need a fresh sign-in, or ' +
      '`POST /auth/reauthenticate`, else 403 `reauthentication_required`. Platform roles need the strongest factor of the account.',
    'A caller may name a request in the header `X-Request-Id`: up to 64 letters, digits and `._:-`. The service replaces any ' +
      'other name. Replies carry the name in the same header. A request belongs to the trace of its header `traceparent`.',
    'A reply to a request that a limit counts has `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` of the limit that is ' +
      'nearest to a refusal. Requests of sessions and API keys always count.',
    `A new password: ${passwordRules}.`,
  ].join('\n\n');
}
