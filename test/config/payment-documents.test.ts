import { readFileSync } from 'node:fs';
import test from 'ava';
import {
  paymentSecretNames,
  paymentVariableNames,
} from '../../src/integrations/payments/payment-settings.js';
import { paymentProvider } from '../../src/domain/payment.js';

const clone = new URL('../../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, clone), 'utf8');
const mentioned = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/\bPAYMENT_[A-Z0-9_]*[A-Z0-9]/g)].map(([name]) => name)),
];
const fileNames = paymentSecretNames.map((name) => `${name}_FILE`);
const known: readonly string[] = [...paymentVariableNames, ...fileNames];
/** Marked in tables as what may be given as a file. */
const marked = (text: string): readonly string[] =>
  [...text.matchAll(/`(PAYMENT_[A-Z0-9_]+)`†/g)].map(([, name = '']) => name);

test('every payment platform has a page, which names all its settings and no other', (t) => {
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
    t.true(read('docs/payments/README.md').includes(`(${name}.md)`), name);
  }
});

test('README names every setting of payments, and marks those that may be files', (t) => {
  const readme = read('README.md');
  t.deepEqual(
    mentioned(readme).filter((variable) => !known.includes(variable)),
    [],
  );
  t.deepEqual(
    paymentVariableNames.filter((variable) => !mentioned(readme).includes(variable)),
    [],
  );
  t.deepEqual([...marked(readme)].sort(), [...paymentSecretNames].sort());
});
