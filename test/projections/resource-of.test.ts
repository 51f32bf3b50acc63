import test from 'ava';
import { z } from 'zod';
import { resourceOf } from '../../projections/resource-of.js';

test('A resource has the fields of its schema in the order of the schema, and no other field of the document', (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `field_${index}`);
  const schema = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const document = Object.fromEntries([...names].reverse().map((name) => [name, `value of ${name}`]));
  const first = resourceOf(schema, { internal: 'kept', ...document });
  t.deepEqual(
    Object.entries(first),
    names.map((name) => [name, `value of ${name}`]),
  );
  const second = resourceOf(schema, { ...document, field_3: 'another' });
  t.deepEqual([first['field_3'], second['field_3']], ['value of field_3', 'another']);
});
