import test from 'ava';
import { reasonOf, StoreDamaged, UndecodableEvent } from '../../../src/event-sourcing/ports/errors.js';

test('A reason quotes our own errors and names only the kind of foreign errors', (t) => {
  t.is(reasonOf(new UndecodableEvent('event X is unknown')), 'event X is unknown');
  t.is(reasonOf(new StoreDamaged('restore it')), 'restore it');
  t.is(reasonOf(new SyntaxError('Unexpected token in canary-secret')), 'SyntaxError');
  t.is(reasonOf('canary-secret'), 'string');
});
