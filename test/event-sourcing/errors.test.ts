import test from 'ava';
import { reasonOf, StoreDamaged, UndecodableEvent } from '../../src/event-sourcing/errors.js';

test('why something stopped is told in our words, and of foreign errors only the kind', (t) => {
  t.is(reasonOf(new UndecodableEvent('event X is unknown')), 'event X is unknown');
  t.is(reasonOf(new StoreDamaged('restore it')), 'restore it');
  t.is(reasonOf(new SyntaxError('Unexpected token in canary-secret')), 'SyntaxError');
  t.is(reasonOf('canary-secret'), 'string');
});
