import test from 'ava';
import { approvalsMax, checkoutAggregate } from '../../../../src/areas/payments/domain/checkout/checkout.js';
import type { CheckoutEvent } from '../../../../src/areas/payments/domain/checkout/events.js';
import { userId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';

type DataOf<Type extends CheckoutEvent['type']> = Extract<CheckoutEvent, { type: Type }>['data'];

const made = (reference: string | null): CheckoutEvent => ({
  type: 'PaymentMade',
  data: {
    ...({ project_id: null, provider: 'paypal', kind: 'redirect', reference } as const),
    ...{ expires_at: '2026-01-02T03:04:05.000Z', way: sealedExample('way'), way_of: userId },
  },
});
const approval = (
  name: string,
  more: Partial<DataOf<'PaymentApproved'>> = {},
): DataOf<'PaymentApproved'> => ({
  ...{ provider: 'paypal', reference: 'one', approval: name },
  ...more,
});
const approved = (name: string): CheckoutEvent => ({ type: 'PaymentApproved', data: approval(name) });
const approve = (data: DataOf<'PaymentApproved'>) => ({ type: 'Approve', approved: data }) as const;

test('Each approval of a payment that the service made is recorded once', (t) => {
  const later = given(checkoutAggregate, made('one'), made('two'));
  later.when(approve(approval('a'))).then(t, approved('a'));
  given(checkoutAggregate, made('one'), approved('a'))
    .when(approve(approval('a')))
    .thenNothing(t);
  given(checkoutAggregate, made('one'), approved('a'))
    .when(approve(approval('b')))
    .then(t, approved('b'));
});

test('An approval of another payment, platform or order is not recorded', (t) => {
  given(checkoutAggregate)
    .when(approve(approval('a')))
    .thenNothing(t);
  given(checkoutAggregate, made(null))
    .when(approve(approval('a')))
    .thenNothing(t);
  const order = given(checkoutAggregate, made('one'));
  order.when(approve(approval('a', { reference: 'two' }))).thenNothing(t);
  order.when(approve(approval('a', { provider: 'stripe' }))).thenNothing(t);
});

test('The stream keeps a bounded number of approvals', (t) => {
  const many = Array.from({ length: approvalsMax }, (_, index) => approved(`a${index}`));
  given(checkoutAggregate, made('one'), ...many.slice(1))
    .when(approve(approval('last')))
    .then(t, approved('last'));
  given(checkoutAggregate, made('one'), ...many)
    .when(approve(approval('last')))
    .thenNothing(t);
});

test('A capture has one outcome', (t) => {
  const order = [made('one'), approved('a')];
  const accepted: CheckoutEvent = { type: 'CaptureAccepted', data: { reference: 'one', approval: 'a' } };
  const refused: CheckoutEvent = {
    type: 'CaptureRefused',
    data: { reference: 'one', approval: 'a', code: 'no' },
  };
  const accept = { type: 'AcceptCapture', approval: 'a' } as const;
  const refuse = { type: 'RefuseCapture', approval: 'a', code: 'no' } as const;
  given(checkoutAggregate, ...order)
    .when(accept)
    .then(t, accepted);
  given(checkoutAggregate, ...order)
    .when(refuse)
    .then(t, refused);
  given(checkoutAggregate, ...order, accepted)
    .when(refuse)
    .thenNothing(t);
  given(checkoutAggregate, ...order, refused)
    .when(accept)
    .thenNothing(t);
  given(checkoutAggregate, made('one')).when(accept).thenNothing(t);
});
