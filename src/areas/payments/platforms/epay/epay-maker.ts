import { createHash } from 'node:crypto';
import { yuan } from '../china.js';
import { signedText } from '../calls/forms.js';
import { type PaymentMaker, type PaymentRequest, PlatformError } from '../payment-maker.js';

/** The signed text has no escaping, so a title must not contain its separators. */
const separators = /[&=]/g;
const titleMax = 60;

/**
 * Makes payments of an epay gateway: a form that the buyer's browser posts to `submit.php`. It has no `type`, so the
 * gateway lets the buyer choose among its ways. There is no call: the signature is MD5 over the sorted fields and the
 * merchant's key.
 * @param deps.gateway the https address of the gateway, without a slash at its end
 * @param deps.key the first key of `PAYMENT_EPAY_KEYS`
 */
export function makeEpayMaker({
  gateway,
  pid,
  key,
}: {
  readonly gateway: string;
  readonly pid: string;
  readonly key: string;
}): PaymentMaker {
  return {
    makePayment: async (request) => {
      const fields = fieldsOf(request);
      // The text that is signed has no escaping, so a value with a separator could imitate the fields of a callback.
      if (Object.values(fields).some((value) => value.includes('&'))) {
        throw new PlatformError('refused', 'return_url_with_several_parameters');
      }
      const text = signedText(new Map(Object.entries(fields)), Object.keys(fields));
      const sign = createHash('md5').update(text).update(key).digest('hex');
      return Promise.resolve({
        kind: 'form',
        url: `${gateway}/submit.php`,
        fields: { ...fields, sign, sign_type: 'MD5' },
        expiresAt: request.expiresAt,
        reference: null,
      });
    },
  };

  function fieldsOf(request: PaymentRequest): Readonly<Record<string, string>> {
    const { callbackUrl, title, returnUrl } = request;
    return {
      pid,
      out_trade_no: request.orderNumber,
      notify_url: callbackUrl,
      // Gateways require an address.
      return_url: returnUrl ?? new URL('/', callbackUrl).href,
      name: title.replaceAll(separators, ' ').slice(0, titleMax),
      money: yuan(request.price),
    };
  }
}
