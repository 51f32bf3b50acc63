import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../kit/parse.js';

/** The relying party of the service's passkeys (src/areas/accounts/commands/README.md#passkeys). */
export interface PasskeySettings {
  /** The domain that passkeys are bound to. */
  readonly rpId: string;
  /** The origins of the pages and apps that may use them. */
  readonly origins: readonly string[];
}

/** `RegistrationResponseJSON` of a browser. */
export interface RegistrationResponse {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    /** Null in the JSON of some password managers. */
    readonly transports?: readonly string[] | null | undefined;
  };
}

/** `AuthenticationResponseJSON` of a browser. */
export interface AuthenticationResponse {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    /** Null or empty where the browser gives none. */
    readonly userHandle?: string | null | undefined;
  };
}

/** The id, in base64url, and the public key of a passkey. */
export interface Credential {
  readonly id: string;
  /** COSE_Key (RFC 9052, section 7). */
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

interface RegisteredCredential extends Credential {
  readonly counter: number;
  readonly synced: boolean;
  readonly backed_up: boolean;
  readonly aaguid: string;
}

interface ClientData {
  readonly challenge: string;
  /** Whether the origin is one of the settings, and the page is in no frame of another origin. */
  readonly fromOurs: boolean;
}

/** ES256 and RS256 (RFC 9053, RFC 8812), the better first. Every authenticator knows one of them. */
export const passkeyAlgorithms = [-7, -257] as const;

const clientDataSchema = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().default(false),
  topOrigin: z.string().optional(),
});

// The library takes a third of the start-up time, so it loads with the first passkey.
const loadLibrary = () => import('@simplewebauthn/server');
const loadHelpers = () => import('@simplewebauthn/server/helpers');

/**
 * Verifies what authenticators sign. User verification is always required. Every failure is null: its reason may quote
 * the response.
 */
export function makeWebauthn({ rpId, origins }: PasskeySettings) {
  const expected = { expectedOrigin: [...origins], expectedRPID: rpId, requireUserVerification: true };
  return {
    /** Reads what the client has signed; null where it is malformed. */
    clientData: (text: string): ClientData | null => {
      const data = readClientData(text);
      if (data === null) return null;
      // A top origin without `crossOrigin` contradicts itself. A page in a frame has both.
      const isFramed = data.crossOrigin || data.topOrigin !== undefined;
      const fromOurs = origins.includes(data.origin) && !isFramed;
      return { challenge: data.challenge, fromOurs };
    },
    /** @param challenge the challenge of the client data, which the caller has checked */
    registered: async (
      { id, response }: RegistrationResponse,
      challenge: string,
    ): Promise<RegisteredCredential | null> => {
      const { verifyRegistrationResponse } = await loadLibrary();
      try {
        if (!(await isWithoutCertificates(response.attestationObject))) return null;
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: {
            ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
            response: {
              clientDataJSON: response.clientDataJSON,
              attestationObject: response.attestationObject,
            },
          },
          ...expected,
          expectedChallenge: challenge,
          supportedAlgorithmIDs: [...passkeyAlgorithms],
        });
        if (!verified || registrationInfo.credential.id !== id) return null;
        const { credential, credentialDeviceType, credentialBackedUp, aaguid } = registrationInfo;
        if (!(await isKey(credential.publicKey))) return null;
        return {
          id,
          publicKey: credential.publicKey,
          counter: credential.counter,
          synced: credentialDeviceType === 'multiDevice',
          backed_up: credentialBackedUp,
          aaguid,
        };
      } catch {
        return null;
      }
    },
    /** The caller compares the counter with the last one. @param challenge as above */
    authenticated: async (
      { id, response }: AuthenticationResponse,
      challenge: string,
      credential: Credential,
    ) => {
      const { verifyAuthenticationResponse } = await loadLibrary();
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: {
            ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
            response: {
              clientDataJSON: response.clientDataJSON,
              authenticatorData: response.authenticatorData,
              signature: response.signature,
            },
          },
          ...expected,
          expectedChallenge: challenge,
          // The user's stream decides on the counter: two sign-ins at once must not both pass with one count.
          credential: { ...credential, counter: 0 },
        });
        if (!verified) return null;
        return { counter: authenticationInfo.newCounter, backed_up: authenticationInfo.credentialBackedUp };
      } catch {
        return null;
      }
    },
  };
}

function readClientData(text: string): z.output<typeof clientDataSchema> | null {
  return clientDataSchema.safeParse(parseJson(Buffer.from(text, 'base64url').toString())).data ?? null;
}

/** Returns whether the parts of a COSE key (RFC 9052, section 7) make a key: a point of P-256, or an RSA key. */
async function isKey(publicKey: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { cose, decodeCredentialPublicKey } = await loadHelpers();
  const key = decodeCredentialPublicKey(publicKey);
  const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('base64url');
  const jwk = cose.isCOSEPublicKeyEC2(key)
    ? { kty: 'EC', crv: 'P-256', x: text(key.get(cose.COSEKEYS.x)), y: text(key.get(cose.COSEKEYS.y)) }
    : cose.isCOSEPublicKeyRSA(key)
      ? { kty: 'RSA', n: text(key.get(cose.COSEKEYS.n)), e: text(key.get(cose.COSEKEYS.e)) }
      : null;
  // It throws for a point beside the curve.
  return jwk !== null && createPublicKey({ key: jwk, format: 'jwk' }).type === 'public';
}

/**
 * Returns whether the attestation names no certificate. The service asks for none. The library would fetch the
 * revocation list that a certificate of the client names, from any address.
 */
async function isWithoutCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await loadHelpers();
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format: string = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}
