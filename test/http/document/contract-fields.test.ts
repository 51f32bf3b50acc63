/* Each row of a table of fields of the contract, in the replies of the service and in the published document. */
import test, { type ExecutionContext } from 'ava';
import type { OpenApiDocument } from '../../../src/http/document/openapi.js';
import type { Json } from '../../../src/http/document/openapi-texts.js';
import {
  cosStorage,
  type Field,
  type ReplyTable,
  fieldsOf,
  replyTables,
  requestTable,
  startContract,
  storageKeys,
} from '../../support/contract/scene.js';
import { names } from '../../support/contract/sentences.js';

/** The tables of what the service sends, with the schema in the document and an example from the service. */
const sent: Readonly<
  Record<ReplyTable, readonly [schema: string, read: (scene: Scene) => Promise<unknown>]>
> = {
  '2.1': ['Storage', async ({ bind }) => (await bind()).json],
  '2.3': [
    'PeerNode',
    async ({ addPeer, peers }) => {
      await addPeer('edge-1', '192.0.2.1');
      return (await peers()).items[0];
    },
  ],
  '2.4': ['SignedInReply', async ({ register }) => (await register('ben')).json],
  '2.5': ['Error', async ({ register }) => (await register('ada')).json],
};
type Scene = Awaited<ReturnType<typeof startContract>>;

const jsonTypes: Readonly<Record<string, string>> = { any: 'object', 'object, string values': 'object' };

function resolved(document: OpenApiDocument, schema: Json | undefined): Json {
  const ref = schema?.['$ref'];
  return typeof ref === 'string'
    ? (document.components.schemas[ref.replace(/^.*\//, '')] as Json)
    : (schema ?? {});
}

const typeNameOf = (value: unknown): string => (Number.isInteger(value) ? 'integer' : typeof value);

/** Holds a value, and the published schema of its field, against the row of the field. */
function hasTheField(
  t: ExecutionContext,
  { type, format, notes }: Field,
  value: unknown,
  schema: Json,
): void {
  const plain = jsonTypes[type] ?? type;
  const isNullable = notes.includes('nullable');
  t.deepEqual([schema['type']].flat(), isNullable ? [plain, 'null'] : [plain]);
  if (format !== null) t.is(schema['format'], format);
  const [, listed] = /^enum: (.*)$/.exec(notes) ?? [];
  if (listed !== undefined) t.deepEqual(schema['enum'], listed.replaceAll('`', '').split(', '));
  if (notes === '`ok` on success') t.deepEqual([value, schema['const']], ['ok', 'ok']);
  if (notes.includes('the value `high_defense`'))
    t.true((schema['enum'] as unknown[]).includes('high_defense'));
  t.true(value === null ? isNullable : typeNameOf(value) === plain, JSON.stringify(value));
  if (format === 'uuid') t.regex(JSON.stringify(value), /^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/);
  if (format === 'date-time' && value !== null)
    t.regex(JSON.stringify(value), /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/);
}

interface Observed {
  readonly body: Json;
  readonly document: OpenApiDocument;
}

for (const section of replyTables) {
  const [schema, example] = sent[section];
  let observed: Promise<Observed> | null = null;
  // The first test of a table asks the service for all.
  const observe = async (t: ExecutionContext): Promise<Observed> => {
    const scene = await startContract(t);
    const body = (await example(scene)) as Json;
    return { body, document: (await scene.get('/openapi.json')).json as OpenApiDocument };
  };
  for (const field of fieldsOf(section)) {
    test(names(section, field.row), async (t) => {
      const { body, document } = await (observed ??= observe(t));
      const published = document.components.schemas[schema] as Json;
      t.true(field.name in body);
      t.true((published['required'] as string[]).includes(field.name));
      const properties = published['properties'] as Record<string, Json>;
      hasTheField(t, field, body[field.name], resolved(document, properties[field.name]));
    });
  }
}

for (const field of fieldsOf(requestTable)) {
  test(names(requestTable, field.row), async (t) => {
    const { bind } = await startContract(t);
    const given = {
      ...cosStorage,
      endpoint: 'https://cos.ap-guangzhou.myqcloud.com',
      base_path: 'a',
      cdn_domain: 'cdn.example.org',
    };
    const value: unknown = given[field.name as keyof typeof given];
    // With the field, and where it is optional without it, the storage is bound
    const bound = await bind(given);
    t.is(bound.status, 201, bound.text);
    if (field.name !== 'credentials') t.deepEqual((bound.json as Json)[field.name], value);
    const short = await bind(withoutField(given, field.name));
    t.is(short.status, field.required === 'yes' ? 400 : 201, short.text);
    // A value of another type is refused with the name of the field
    t.is(typeNameOf(value), jsonTypes[field.type] ?? field.type);
    for (const other of [7, true, ['s3']]) {
      const refused = await bind({ ...given, [field.name]: other });
      t.is(refused.status, 400);
      t.regex((refused.json as { message: string }).message, new RegExp(field.name));
    }
    if (field.name === 'provider') await takesTheseProviders(t, bind);
    if (field.name === 'credentials') await takesTheKeysOfItsProvider(t, bind);
    if (field.name === 'region') await needsRegionOrEndpoint(t, bind);
  });
}

type Bind = Scene['bind'];

function withoutField(fields: object, name: string): Json {
  return Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name));
}

async function takesTheseProviders(t: ExecutionContext, bind: Bind): Promise<void> {
  for (const provider of ['oss', 'cos', 's3'] as const) {
    const bound = await bind({ ...cosStorage, provider, credentials: storageKeys[provider] });
    t.is(bound.status, 201, bound.text);
    t.is((bound.json as Json)['provider'], provider);
  }
  for (const provider of ['azure', 'S3', '']) t.is((await bind({ ...cosStorage, provider })).status, 400);
}

async function takesTheKeysOfItsProvider(t: ExecutionContext, bind: Bind): Promise<void> {
  for (const [provider, own] of Object.entries(storageKeys)) {
    t.is((await bind({ ...cosStorage, provider, credentials: own })).status, 201, provider);
    for (const name of Object.keys(own)) {
      const other = withoutField(own, name);
      t.is(
        (await bind({ ...cosStorage, provider, credentials: other })).status,
        400,
        `${provider} without ${name}`,
      );
      t.is((await bind({ ...cosStorage, provider, credentials: { ...own, [name]: 7 } })).status, 400);
    }
    const others = provider === 'cos' ? storageKeys.s3 : storageKeys.cos;
    t.is((await bind({ ...cosStorage, provider, credentials: others })).status, 400, provider);
  }
}

async function needsRegionOrEndpoint(t: ExecutionContext, bind: Bind): Promise<void> {
  const { region, ...without } = cosStorage;
  t.is((await bind(without)).status, 400);
  t.is((await bind({ ...without, region })).status, 201);
  t.is((await bind({ ...without, endpoint: 'https://cos.ap-guangzhou.myqcloud.com' })).status, 201);
}
