import { z } from 'zod';
import { HttpError } from '../../../../http/replies/error-codes.js';

/** A limit on each text: a whole body has at most 64 KiB. */
const base64url = z
  .string()
  .max(32_768)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url without padding');

/** WebAuthn Level 3, section 4: a credential's id has at most 1,023 bytes. */
const credentialId = base64url.max(1_364);

// Browsers add fields to these two (`toJSON`), so others than the named ones are left out.
const ofCredential = { id: credentialId, type: z.literal('public-key') };

export const registrationResponse = z
  .object({
    ...ofCredential,
    response: z.object({
      clientDataJSON: base64url,
      attestationObject: base64url,
      transports: z.array(z.string().max(64)).max(32).nullish(),
    }),
  })
  .meta({
    id: 'PasskeyRegistrationResponse',
    description:
      'What `credential.toJSON()` gives after `navigator.credentials.create()`; other fields are ignored.',
  });

export const authenticationResponse = z
  .object({
    ...ofCredential,
    response: z.object({
      clientDataJSON: base64url,
      authenticatorData: base64url,
      signature: base64url,
      userHandle: z.union([z.literal(''), base64url.max(128)]).nullish(),
    }),
  })
  .meta({
    id: 'PasskeyAuthenticationResponse',
    description:
      'What `credential.toJSON()` gives after `navigator.credentials.get()`; other fields are ignored.',
  });

const publicKeyType = z.literal('public-key');
const challenge = z.string().describe('Good for one use, for 5 minutes.');
const timeout = z.int().positive().describe('Milliseconds.');

export const creationOptions = z
  .strictObject({
    publicKey: z.strictObject({
      rp: z.strictObject({ id: z.string(), name: z.string() }),
      user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
      challenge,
      pubKeyCredParams: z.array(z.strictObject({ type: publicKeyType, alg: z.int() })),
      timeout,
      attestation: z.literal('none'),
      authenticatorSelection: z.strictObject({
        residentKey: z.literal('required'),
        requireResidentKey: z.literal(true),
        userVerification: z.literal('required'),
      }),
      excludeCredentials: z.array(z.strictObject({ type: publicKeyType, id: z.string() })),
    }),
  })
  .meta({
    id: 'PasskeyCreationOptions',
    description: '`publicKey` is for `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
  });

export const requestOptions = z
  .strictObject({
    publicKey: z.strictObject({
      rpId: z.string(),
      challenge,
      timeout,
      userVerification: z.literal('required'),
    }),
  })
  .meta({
    id: 'PasskeyRequestOptions',
    description: '`publicKey` is for `PublicKeyCredential.parseRequestOptionsFromJSON()`.',
  });

/** Returns the check that browsers accept passkeys of this service. */
export function lacksPasskeys(passkeys: object | null): () => HttpError | null {
  return () =>
    passkeys === null
      ? new HttpError(
          'passkeys_not_configured',
          'PUBLIC_URL is no https origin with a domain, so browsers accept no passkey here',
        )
      : null;
}
