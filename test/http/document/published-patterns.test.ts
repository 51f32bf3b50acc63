import test from 'ava';
import { checkAssetFacts } from '../../../src/areas/assets/domain/asset/changes.js';
import { checkBasePath, widestKeyRule } from '../../../src/areas/storages/domain/bucket/bucket.js';
import { checkCredentials } from '../../../src/areas/storages/domain/bucket/connection.js';
import { checkName, checkText } from '../../../src/validation/text.js';
import { revisionsWanted } from '../../../src/http/replies/reply.js';
import { asObject, textOf } from '../../support/clients/service-client.js';
import { startTestService } from '../../support/servers/http-service.js';

const asset = { name: 'Rhine', object_key: 'a', media_type: 'video/mp4', size: 1, renditions: [] };

/** The rule behind each pattern of the document, and the path to the pattern. */
const rules: Readonly<Record<string, (text: string) => unknown>> = {
  'schemas.ProjectCreation.properties.name': (text) => checkName(text),
  'schemas.AssetCreation.properties.name': (text) => checkName(text, 'name', 255),
  'schemas.ProfileChange.properties.nickname.anyOf.0': (text) => checkName(text, 'nickname', 50),
  'schemas.Registration.properties.nickname.anyOf.0': (text) => text.trim() === '' || checkName(text),
  'schemas.PaymentResolutionRequest.properties.note': (text) => checkText(text, 'note', 1_000),
  'schemas.ObjectKey': (text) => checkAssetFacts({ ...asset, object_key: text }, widestKeyRule),
  'schemas.AssetCreation.properties.media_type': (text) =>
    checkAssetFacts({ ...asset, media_type: text }, widestKeyRule),
  'schemas.StorageBasePath': (text) => checkBasePath(text, 's3'),
  'schemas.Credential': (text) => checkCredentials('s3', { access_key: 'a', secret_key: text }),
  'parameters.If-Match.schema': revisionsWanted,
};

/**
 * Every character below U+3100 and the edges of the other ranges, alone and at each place of a text. Of letters, digits and marks,
 * which no rule tells apart by their place, one in 32 stands at each place.
 */
const texts = [
  ...Array.from({ length: 0x31_00 }, (_, code) => String.fromCharCode(code)),
  ...['\ud800', '\udfff', '\ufeff', '\ufffd', '\u{1f600}', ' \u{1f600} '],
].flatMap((one, index) =>
  index % 32 !== 0 && /^[\p{L}\p{N}\p{M}]$/u.test(one)
    ? [one]
    : [one, `${one}x`, `x${one}`, `x${one}x`, `x/${one}/x`],
);
const others = [
  ...[
    '',
    '.',
    '..',
    './x',
    'x/..',
    'x/../y',
    '...',
    '.x',
    'x//y',
    '/x',
    'x/',
    '/',
    '//',
    '/./x',
    '//x',
    '/..',
    'x/.y',
    'x y',
  ],
  ...['video/mp4', 'video/mp4; a=b', 'video/mp4;a="b c"', 'video/', 'video/mp4;', 'video/mp4; a'],
  ...[
    '*',
    '""',
    '"1"',
    'W/"1"',
    'w/"1"',
    '"1", "2"',
    '"1",W/"2" , "3"',
    '"1",',
    '"1" "2"',
    '"\u00ff"',
    '"\u0100"',
    ' *',
    '"1" ',
    '"1',
  ],
];

test('Each published pattern accepts the texts that its rule accepts, and no others', async (t) => {
  const { get } = await startTestService(t);
  const { components } = asObject((await get('/openapi.json')).json) as never as {
    components: Readonly<Record<string, unknown>>;
  };
  for (const [path, rule] of Object.entries(rules)) {
    let found: unknown = components;
    for (const step of path.split('.')) found = (found as Readonly<Record<string, unknown>>)[step];
    const published = new RegExp(textOf(referred(components, found), 'pattern'), 'u');
    const wrong = [...texts, ...others].filter((text) => published.test(text) !== accepts(rule, text));
    t.deepEqual(
      wrong.slice(0, 5).map((text) => JSON.stringify(text)),
      [],
      path,
    );
  }
});

test('The cursor of a list of ids has the published form', async (t) => {
  const { get, post, signUp } = await startTestService(t);
  const ada = await signUp('ada');
  for (const name of ['One', 'Two']) await post('/api/v1/projects', { name }, ada);
  const page = asObject((await get('/api/v1/projects?limit=1', ada)).json);
  const document = (await get('/openapi.json')).json as never as {
    components: { parameters: { Cursor: { schema: { pattern: string } } } };
  };
  const pattern = new RegExp(document.components.parameters.Cursor.schema.pattern, 'u');
  t.is(pattern.source, '^[A-Za-z0-9_-]{48}$');
  t.regex(textOf(page, 'next_cursor'), pattern);
  t.is((await get('/api/v1/projects?cursor=abc', ada)).status, 400);
});

/** Follows a reference to a text that several fields share. */
function referred(components: unknown, schema: unknown) {
  const { $ref: ref } = asObject(schema);
  if (typeof ref !== 'string') return asObject(schema);
  const name = ref.replace('#/components/schemas/', '');
  return asObject(asObject(asObject(components)['schemas'])[name]);
}

function accepts(rule: (text: string) => unknown, text: string): boolean {
  const { stackTraceLimit } = Error;
  // Most of 300,000 texts are refused, and the stack costs more than the rule.
  Error.stackTraceLimit = 0;
  try {
    rule(text);
    return true;
  } catch {
    return false;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
