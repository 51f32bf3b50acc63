import test from 'ava';
import { approvalsMax, checkoutAggregate } from '../../../../src/areas/payments/domain/checkout/checkout.js';
import type { CheckoutEvent } from '../../../../src/areas/payments/domain/checkout/events.js';
import { given } from '../../../support/given/given.js';
import { aPayment } from '../../../support/given/an-order.js';

type DataOf<Type extends CheckoutEvent['type']> = Extract<CheckoutEvent, { type: Type }>['data'];

const made = (reference: string | null): CheckoutEvent => ({
  type: 'PaymentMade',
  data: aPayment({ provider: 'paypal', reference }),
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

const paypal = given(checkoutAggregate, made('one'));
const approvedOnce = given(checkoutAggregate, made('one'), approved('a'));

test('Each approval of a payment that the service made is recorded once', (t) => {
  const later = given(checkoutAggregate, made('one'), made('two'));
  later.when(approve(approval('a'))).then(t, approved('a'));
  approvedOnce.when(approve(approval('a'))).thenNothing(t);
  approvedOnce.when(approve(approval('b'))).then(t, approved('b'));
});

test('An approval of another payment, platform or order is not recorded', (t) => {
  for (const scene of [given(checkoutAggregate), given(checkoutAggregate, made(null))])
    scene.when(approve(approval('a'))).thenNothing(t);
  paypal.when(approve(approval('a', { reference: 'two' }))).thenNothing(t);
  paypal.when(approve(approval('a', { provider: 'stripe' }))).thenNothing(t);
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
  const of = { reference: 'one', approval: 'a' };
  const accepted: CheckoutEvent = { type: 'CaptureAccepted', data: of };
  const refused: CheckoutEvent = { type: 'CaptureRefused', data: { ...of, code: 'no' } };
  const accept = { type: 'AcceptCapture', approval: 'a' } as const;
  const refuse = { type: 'RefuseCapture', approval: 'a', code: 'no' } as const;
  approvedOnce.when(accept).then(t, accepted);
  approvedOnce.when(refuse).then(t, refused);
  given(checkoutAggregate, made('one'), approved('a'), accepted).when(refuse).thenNothing(t);
  given(checkoutAggregate, made('one'), approved('a'), refused).when(accept).thenNothing(t);
  paypal.when(accept).thenNothing(t);
});
