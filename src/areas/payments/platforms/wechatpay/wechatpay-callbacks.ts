import { createDecipheriv } from 'node:crypto';
import { at, decodeBase64, readJsonObject, textAt, timeAt } from '../calls/parsing.js';
import type { Verification, Verify } from '../payment-provider.js';
import {
  isOurResource,
  readResource,
  wechatPayFields,
  type WechatPayMerchant,
} from './wechatpay-resource.js';
import { judgeSigned, type WechatPayKeys } from './wechatpay-client.js';
import { fieldsAt, refused, verified, verifiedUnreadable } from '../keys/verification.js';

const ciphertextMax = 262_144;
const tagBytes = 16;

/**
 * Verifies callbacks of WeChat Pay API v3 ("Decrypt callbacks"), signed as `judgeSigned` reads. The resource is AES-256-GCM
 * under the API v3 key. The platform requires a refusal of its probes with a wrong signature (WECHATPAY/SIGNTEST/). The key
 * of a callback is the message's id.
 * @param apiV3Keys 32 bytes each, of `PAYMENT_WECHATPAY_API_V3_KEY`
 */
export function verifyWechatPay(
  input: WechatPayMerchant & { readonly keys: WechatPayKeys; readonly apiV3Keys: readonly Buffer[] },
): Verify {
  const { keys, apiV3Keys, ...merchant } = input;
  return async (callback) => {
    const refusal = await judgeSigned(callback, keys, callback.receivedAt);
    return refusal === null ? read(callback.body) : refused(refusal);
  };

  async function read(body: Buffer): Promise<Verification> {
    const message = await readJsonObject(body);
    const key = textAt(message, 'id');
    const type = textAt(message, 'event_type');
    const sealed = parseSealed(at(message, 'resource'));
    if (key === null || type === null) return verifiedUnreadable('id and event_type', body);
    if (sealed === null) return verifiedUnreadable('resource', body);
    const clear = apiV3Keys.map((apiV3Key) => open(sealed, apiV3Key)).find((bytes) => bytes !== null);
    // Sealed under another key: a repetition is readable after the operator corrects the key.
    if (clear === undefined)
      return { kind: 'unavailable', problem: 'no key of PAYMENT_WECHATPAY_API_V3_KEY opens the resource' };
    const resource = await readJsonObject(clear);
    if (resource === null) return verifiedUnreadable('resource', body);
    return verified({
      key,
      isOurs: isOurResource(resource, merchant),
      notifications: readResource(type, resource, timeAt(message, 'create_time')),
      fields: [...fieldsAt(message, ['id', 'event_type']), ...fieldsAt(resource, wechatPayFields)],
    });
  }
}

interface Sealed {
  readonly ciphertext: Buffer;
  readonly nonce: Buffer;
  readonly associatedData: Buffer;
}

function parseSealed(resource: unknown): Sealed | null {
  const ciphertext = decodeBase64(textAt(resource, 'ciphertext', ciphertextMax) ?? '');
  const nonce = Buffer.from(textAt(resource, 'nonce') ?? '', 'utf8');
  const associated = at(resource, 'associated_data') ?? '';
  if (at(resource, 'algorithm') !== 'AEAD_AES_256_GCM' || typeof associated !== 'string') return null;
  if (ciphertext === null || ciphertext.length < tagBytes || nonce.length !== 12) return null;
  return { ciphertext, nonce, associatedData: Buffer.from(associated, 'utf8') };
}

/** Opens a resource. Returns null for a wrong key or changed data. */
function open({ ciphertext, nonce, associatedData }: Sealed, key: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(associatedData);
  decipher.setAuthTag(ciphertext.subarray(-tagBytes));
  try {
    const clear = decipher.update(ciphertext.subarray(0, -tagBytes));
    // `final` compares the tag.
    return Buffer.concat([clear, decipher.final()]);
  } catch {
    return null;
  }
}
