import { readFileSync } from 'node:fs';
import test from 'ava';
import { paymentSecretNames, paymentVariableNames } from '../../src/areas/payments/platforms/configured.js';
import { paymentProvider } from '../../src/areas/payments/domain/payment.js';

const clone = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, clone), 'utf8');
const mentioned = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/\bPAYMENT_[A-Z0-9_]*[A-Z0-9]/g)].map(([name]) => name)),
];
const fileNames = paymentSecretNames.map((name) => `${name}_FILE`);
const known: readonly string[] = [...paymentVariableNames, ...fileNames];
/** The variables that a table marks as having a file variant. */
const marked = (text: string): readonly string[] =>
  [...text.matchAll(/`(PAYMENT_[A-Z0-9_]+)`†/g)].map(([, name = '']) => name);

test('Every payment platform has a page that names all its settings and no others', (t) => {
  for (const name of paymentProvider.options) {
    const page = read(`docs/payments/${name}.md`);
    const isOwn = (variable: string): boolean => variable.startsWith(`PAYMENT_${name.toUpperCase()}_`);
    t.deepEqual(
      mentioned(page).filter((variable) => !isOwn(variable) || !known.includes(variable)),
      [],
      name,
    );
    t.deepEqual(
      paymentVariableNames.filter((variable) => isOwn(variable) && !page.includes(`\`${variable}\``)),
      [],
      name,
    );
    t.deepEqual(marked(page), paymentSecretNames.filter(isOwn), name);
    t.true(page.includes(`/api/v1/payment/webhooks/${name}\``), name);
    t.true(read('docs/configuration.md').includes(`(payments/${name}.md)`), name);
  }
});
