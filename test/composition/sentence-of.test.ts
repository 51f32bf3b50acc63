import test from 'ava';
import { z } from 'zod';
import { sentenceOf } from '../../src/composition/starting.js';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { MailNotSent } from '../../src/mail/mailer.js';
import { OutgoingError } from '../../src/outgoing/outgoing-http.js';
import { KeyMissing } from '../../src/keys/sealing/errors.js';

const secret = 'canary-secret';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('The log quotes the sentence of an error of this service', (t) => {
  for (const error of [
    new StoreUnavailable('the disk is full; make room on it'),
    new OutcomeUnknown('no answer in time'),
    new StoreDamaged('restore it from a backup'),
    new KeyMissing('put it back'),
    new MailNotSent('the mail server answered 451'),
    new OutgoingError('host_not_found'),
  ]) {
    t.is(sentenceOf(error), error.message);
  }
});

test('The log describes another error by kind and stack, because its message may quote a secret', (t) => {
  const parsing = thrownBy(() => JSON.parse(secret) as unknown);
  t.true(String(parsing).includes('canary'), 'the parser quotes the secret');
  const otherErrors: readonly [unknown, RegExp][] = [
    [parsing, /^SyntaxError at .*sentence-of\.test/],
    [thrownBy(() => BigInt(secret)), /^SyntaxError at /],
    [thrownBy(() => z.literal('a', { error: secret }).parse(1)), /^ZodError at /],
    [new Error(`line one\n  at ${secret}`), /^Error /],
    [secret, /^something was thrown that is no error: string$/],
    [undefined, /undefined$/],
  ];
  for (const [error, pattern] of otherErrors) {
    t.regex(sentenceOf(error), pattern);
    t.false(sentenceOf(error).includes(secret), String(pattern));
  }
});
