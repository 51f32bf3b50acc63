import type { PaymentFact, PaymentNotification } from '../../../../../src/areas/payments/domain/fact.js';

/** The expected content of a notification. */
export type Told = Omit<PaymentNotification, 'at'>;

/** A message of a platform before it is signed, and the expected result of its verification. */
export interface PaymentMessage {
  readonly title: string;
  /** A JSON body, or the parameters of a form. */
  readonly message: Readonly<Record<string, unknown>>;
  /** WeChat Pay: the resource that is sealed into the message. */
  readonly resource?: Readonly<Record<string, unknown>>;
  readonly method?: 'GET' | 'POST';
  readonly key: string;
  readonly isOurs?: boolean;
  readonly told: readonly Told[];
}

/** The arrival time of all messages. */
export const arrivesAt = new Date('2026-01-02T03:04:05.000Z');

export const order = '01HZY3T9QK7M5N2P4R6S8V0W1X';
export const otherOrder = '01HZY3T9QK7M5N2P4R6S8V0W2Y';

/** Every message contains it as a person's name and address. No result may contain it. */
export const personal = 'personal-canary';

export const secrets = {
  stripe: ['whsec_TestOnlyNotARealSecretOne', 'whsec_TestOnlyNotARealSecretTwo'],
  wechatpayApiV3Key: 'TestOnlyNotARealApiV3Key12345678',
  standard: `whsec_${Buffer.from('test only, not a real secret').toString('base64')}`,
  epay: ['TestOnlyNotARealEpayKeyOne000000', 'TestOnlyNotARealEpayKeyTwo000000'],
} as const;

export const merchant = {
  wechatpay: { mchId: '1900000109', appId: 'wxd678efh567hg6787', subMchId: null },
  alipay: { appId: '2021000000000001', sellerId: '2088000000000001' },
  paypal: { webhookId: '7AB12345CD678901E' },
  epay: { pid: '1001' },
} as const;

export const money = (amount: number, currency: string) => ({ amount, currency });
export const paid = (amount: number, currency: string): PaymentFact => ({
  kind: 'paid',
  ...money(amount, currency),
});
export const refundedInTotal = (amount: number, currency: string): PaymentFact => ({
  kind: 'refunded-in-total',
  ...money(amount, currency),
});
export const unreadable = (field: string): PaymentFact => ({ kind: 'unreadable', field });
export const nothing: PaymentFact = { kind: 'nothing' };

export const tells = (
  fact: PaymentFact,
  order_number: string | null,
  transaction_id: string | null,
): readonly Told[] => [{ order_number, transaction_id, fact }];
