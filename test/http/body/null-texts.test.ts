import test from 'ava';
import { z } from 'zod';
import type { OpenApiDocument } from '../../../src/http/document/openapi.js';
import type { Json } from '../../../src/http/document/openapi-texts.js';
import { makeOmitNullTexts } from '../../../src/http/body/validate.js';
import { startTestService } from '../../support/servers/http-service.js';

/** Returns the names of the fields that a published object shows as optional and nullable texts. */
function nullableTextsOf(schema: Json, resolve: (schema: Json) => Json): readonly string[] {
  const required = (schema['required'] ?? []) as readonly string[];
  const isText = (field: Json): boolean => {
    const { type, anyOf } = resolve(field);
    if (Array.isArray(anyOf)) return (anyOf as Json[]).some((one) => isText(one));
    return type === 'string' || (Array.isArray(type) && type.includes('string'));
  };
  const isNullable = (field: Json): boolean => JSON.stringify(field).includes('"null"');
  return Object.entries((schema['properties'] ?? {}) as Record<string, Json>)
    .filter(([name, field]) => !required.includes(name) && isText(field) && isNullable(field))
    .map(([name]) => name);
}

test('Every optional text of a body is published as nullable, and null validates like a field that is left out', async (t) => {
  const { routes, get } = await startTestService(t);
  const document = (await get('/openapi.json')).json as OpenApiDocument;
  const resolve = (schema: Json): Json => {
    const ref = schema['$ref'];
    if (typeof ref !== 'string') return schema;
    return document.components.schemas[ref.replace(/^.*\//, '')] as Json;
  };
  const bodies = routes.filter(
    ({ raw, request }) => raw === undefined && !(request.body instanceof z.ZodUndefined),
  );
  let fields = 0;
  for (const { name, method, path, request } of bodies) {
    const at = path.replaceAll(/:(\w+)/g, '{$1}');
    const { content } = document.paths[at]?.[method.toLowerCase()]?.requestBody as { readonly content: Json };
    const body = resolve((content['application/json'] as { readonly schema: Json }).schema);
    const omit = makeOmitNullTexts(request.body);
    for (const variant of ((body['oneOf'] ?? [body]) as Json[]).map(resolve)) {
      const [example = {}] = (variant['examples'] ?? body['examples'] ?? []) as Json[];
      for (const field of nullableTextsOf(variant, resolve)) {
        fields += 1;
        const without = Object.fromEntries(Object.entries(example).filter(([key]) => key !== field));
        const given = { ...without, [field]: null };
        const untouched = request.body.safeParse(structuredClone(given));
        omit?.(given);
        // Null either has a meaning there, or is the same as nothing.
        t.is(given[field] === null, untouched.success, `${name} ${field}`);
        if (!untouched.success) t.deepEqual(given, without, `${name} ${field}`);
      }
    }
  }
  t.true(fields > 60, `${fields} fields`);
});

test('A null counts as a field that is left out in parts, lists and the chosen variant, and stays where it has a meaning', (t) => {
  const text = z.string();
  const schema = z.strictObject({
    left: text.optional(),
    preset: text.default('x'),
    chosen: z.enum(['a', 'b']).optional(),
    cleared: text.nullable().optional(),
    needed: text,
    count: z.int().optional(),
    parts: z.array(z.strictObject({ note: text.trim().optional() })).optional(),
    variant: z
      .discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('one'), note: text.optional() }),
        z.strictObject({ kind: z.literal('two'), note: text.nullable() }),
      ])
      .optional(),
  });
  const omit = makeOmitNullTexts(schema);
  const omitted = (value: unknown): unknown => {
    const copy = structuredClone(value);
    omit?.(copy);
    return copy;
  };
  const nulls = { left: null, preset: null, chosen: null, cleared: null, needed: null, count: null };
  t.deepEqual(omitted(nulls), { cleared: null, needed: null, count: null });
  t.deepEqual(omitted({ parts: [{ note: null }, null, 7, { other: null }] }), {
    parts: [{}, null, 7, { other: null }],
  });
  t.deepEqual(omitted({ variant: { kind: 'one', note: null } }), { variant: { kind: 'one' } });
  t.deepEqual(omitted({ variant: { kind: 'two', note: null } }), { variant: { kind: 'two', note: null } });
  for (const odd of [null, [], 'text', { parts: null, variant: null }, { variant: { kind: {} } }])
    t.deepEqual(omitted(odd), odd);
  t.is(makeOmitNullTexts(z.strictObject({ count: z.int().optional(), name: text })), null);
});

test('A client that writes null for what it leaves out registers, binds a storage and changes nothing else', async (t) => {
  const { post, signUp, makeProject, ask } = await startTestService(t);
  const registered = await post('/api/v1/auth/register', {
    email: 'bo@example.com',
    password: 'Correct-Horse-7',
    nickname: null,
  });
  t.is(registered.status, 201, registered.text);
  const { user } = (registered.json as { data: { user: { nickname: string } } }).data;
  t.is(user.nickname, 'bo');

  const headers = await signUp('ada');
  const project = await makeProject(headers);
  const storage = {
    ...{ name: 'Rushes', provider: 's3', bucket: 'rushes', region: 'eu-central-1' },
    ...{ endpoint: null, public_endpoint: null, base_path: null, cdn_domain: null },
    credentials: { access_key: 'AK', secret_key: 'SK' },
  };
  const bound = await post(`/api/v1/projects/${project}/storages`, storage, headers);
  t.is(bound.status, 201, bound.text);
  // A required text is still refused.
  const unnamed = await post(`/api/v1/projects/${project}/storages`, { ...storage, name: null }, headers);
  t.is(unnamed.status, 400);

  const path = `/api/v1/projects/${project}`;
  const before = await ask(path, { headers });
  const renamed = await ask(path, { method: 'PATCH', json: { name: null }, headers });
  t.is(renamed.status, 200, renamed.text);
  t.deepEqual(renamed.json, before.json);
});

test('A repetition may write null for what the first attempt left out', async (t) => {
  const { post, signUp } = await startTestService(t);
  const headers = { ...(await signUp('ada')), 'idempotency-key': 'once' };
  const order = { plan_id: 'capacity-100g', provider: 'stripe' };
  const first = await post('/api/v1/orders', order, headers);
  t.is(first.status, 201, first.text);
  const again = await post('/api/v1/orders', { ...order, currency: null, project_id: null }, headers);
  t.deepEqual([again.status, again.text], [201, first.text]);
});
