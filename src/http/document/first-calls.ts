/** A call of the way from a sign-up to a shared file. */
interface FirstCall {
  readonly call: string;
  readonly body: string;
  /** Ends with a full stop. */
  readonly then: string;
}

/** The calls with which the document of the API and its page begin. */
export const firstCalls: readonly FirstCall[] = [
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

export const firstCallsTitle = 'Five calls from a sign-up to a shared file';

/** Returns the calls in Markdown. */
export function describeFirstCalls(): string {
  const steps = firstCalls.map(
    ({ call, body, then }, index) => `${index + 1}. \`${call}\` \`${body}\` ${then}`,
  );
  return [`**${firstCallsTitle}**`, steps.join('\n')].join('\n\n');
}

/** Returns the calls in HTML. */
export function renderFirstCalls(): string {
  const steps = firstCalls.map(
    ({ call, body, then }) =>
      `<li><code>${escapeHtml(call)}</code> <code>${escapeHtml(body)}</code> ${escapeHtml(then).replace(/`([^`]+)`/g, '<code>$1</code>')}</li>`,
  );
  return `<h2>${firstCallsTitle}</h2>\n<ol>\n${steps.join('\n')}\n</ol>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
