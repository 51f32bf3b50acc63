import { codeOf } from '../kit/errors.js';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { makeGatheredBytes } from '../kit/gathered-bytes.js';
import { traceHeader } from '../kit/trace.js';
import { makeNameSettings, systemNameFiles } from './addresses.js';
import { makeResolveName } from './resolve-name.js';
import { type AccountOf, type Lookup, sharingLookup } from './shared-lookup.js';

export interface OutgoingRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** The bytes of the reply to keep; 64 KiB when left out. With 0 the reply is cut after its head. */
  readonly bodyBytesMax?: number;
  /** The time limit; 5 s when left out. */
  readonly timeMs?: number;
  /** The account whose user has named the host. */
  readonly account?: AccountOf | undefined;
}

export interface OutgoingReply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** At most the first `bodyBytesMax` bytes. */
  readonly body: Buffer;
}

/** The cause of a failed request, divided by the remedy that the user has. */
export type OutgoingFailure =
  | 'address_refused'
  | 'host_not_found'
  | 'host_not_resolved'
  | 'connection_refused'
  | 'connection_timeout'
  | 'connection_failed'
  | 'certificate_name_wrong'
  /** Or not valid yet. */
  | 'certificate_expired'
  /** No trusted authority has signed it, or its chain has gaps. */
  | 'certificate_untrusted'
  /** Any other defect of the certificate. */
  | 'certificate_invalid'
  | 'tls_failed'
  | 'not_http';

export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
  readonly failure: OutgoingFailure;

  constructor(failure: OutgoingFailure) {
    super(`the request failed: ${failure}`);
    this.failure = failure;
  }
}

/**
 * Sends a request to an address that a user names. The guard judges each address when it connects, so a name that
 * resolves differently later gains nothing. It follows no redirect, keeps no connection and uses no proxy.
 * @throws OutgoingError
 */
export type OutgoingHttp = (request: OutgoingRequest, signal?: AbortSignal) => Promise<OutgoingReply>;

/** src/outgoing/README.md#the-guard */
const timeLimitMs = 5_000;
const bodyBytesMax = 64 * 1024;

/** How the client looks up names, which authorities it trusts, and how long it waits; by default the machine's ways, and 5 s. */
export interface OutgoingOptions {
  readonly lookup?: Lookup;
  /** The time limit of a request without one. */
  readonly timeMs?: number;
  /** The authorities to trust in place of the machine's, in PEM. */
  readonly ca?: string;
}

/**
 * @param isAllowed see `makeAllowedAddress`
 * @param isAllowedPlain whether an allowed address may be used without TLS; by default each one
 */
export function makeOutgoingHttp({
  isAllowed,
  isAllowedPlain = () => true,
  lookup = lookUpAll,
  timeMs = timeLimitMs,
  ca,
}: OutgoingOptions & {
  readonly isAllowed: (address: string) => boolean;
  readonly isAllowedPlain?: (address: string) => boolean;
}): OutgoingHttp {
  return ({ method, url, headers = {}, body, account, ...limits }, signal) =>
    new Promise((resolve, reject) => {
      const target = new URL(url);
      const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
      const isHttps = target.protocol === 'https:';
      const judge = isHttps ? isAllowed : isAllowedWithoutTls;
      // Node calls the look-up below only for names, so this check judges literal addresses.
      if (isIP(host) !== 0 && !judge(host)) {
        reject(new OutgoingError('address_refused'));
        return;
      }
      const send = isHttps ? httpsRequest : httpRequest;
      const timeUp = AbortSignal.timeout(limits.timeMs ?? timeMs);
      const request: ClientRequest = send(target, {
        method,
        headers: {
          ...headers,
          ...traceHeader(),
          ...(body === undefined ? {} : { 'content-length': String(body.length) }),
        },
        agent: false,
        lookup: guarded(judge, account),
        signal: signal === undefined ? timeUp : AbortSignal.any([timeUp, signal]),
        ...(ca === undefined ? {} : { ca }),
      });
      const fail = (error: unknown): void => {
        request.destroy();
        reject(timeUp.aborted ? new OutgoingError('connection_timeout') : toOutgoingError(error));
      };
      request.on('error', fail);
      // Nothing else would end this call after a reply 101. Node gives its connection away, without a listener for errors.
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        fail(new OutgoingError('not_http'));
      });
      request.on('response', (response) => {
        if (method === 'HEAD' || limits.bodyBytesMax === 0) {
          // Some servers send a body with an error of HEAD, which the parser takes for a broken reply.
          resolve(replyOf(response, Buffer.alloc(0)));
          request.destroy();
        } else collect(response, limits.bodyBytesMax ?? bodyBytesMax, fail, resolve);
      });
      request.end(body);
    });

  function isAllowedWithoutTls(address: string): boolean {
    return isAllowed(address) && isAllowedPlain(address);
  }

  // The signature is Node's. The option `all` asks for a list.
  function guarded(judge: (address: string) => boolean, account: AccountOf | undefined): LookupFunction {
    return (hostname, options, callback) => {
      lookup(
        hostname,
        (error, addresses) => {
          if (error !== null) {
            callback(error, '', 0);
            return;
          }
          // One forbidden address refuses the name: a mixed answer is an attack, or a mistake that the user must see.
          const [first] = addresses;
          if (first === undefined || !addresses.every(({ address }) => judge(address))) {
            callback(new OutgoingError('address_refused'), '', 0);
          } else if (options.all === true) {
            callback(null, [...addresses]);
          } else {
            callback(null, first.address, first.family);
          }
        },
        account,
      );
    };
  }
}

/** Returns the client with the account that its requests are for. */
export function forAccount(http: OutgoingHttp, account: AccountOf | undefined): OutgoingHttp {
  return (request, signal) => http({ ...request, account }, signal);
}

const processClock = { now: () => new Date(), steadyMs: () => performance.now() };

/** All clients of the process share it, because they share the name servers. */
const lookUpAll = sharingLookup(
  makeResolveName(makeNameSettings(systemNameFiles, processClock)),
  processClock,
);

/** Reads the first bytes of a reply and drops the rest. Error codes stand at the beginning of a body. */
function collect(
  response: IncomingMessage,
  bytesMax: number,
  fail: (error: unknown) => void,
  done: (reply: OutgoingReply) => void,
): void {
  const gathered = makeGatheredBytes();
  const finish = (): void => done(replyOf(response, gathered.bytes().subarray(0, bytesMax)));
  response.on('error', fail);
  response.on('end', finish);
  response.on('data', (chunk: Buffer) => {
    if (gathered.add(chunk) <= bytesMax) return;
    response.destroy();
    finish();
  });
}

function replyOf(response: IncomingMessage, body: Buffer): OutgoingReply {
  const headers = Object.entries(response.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(headers) as OutgoingReply['headers'],
    body,
  };
}

const failureByCode: Readonly<Record<string, OutgoingFailure>> = {
  ENOTFOUND: 'host_not_found',
  EAI_AGAIN: 'host_not_resolved',
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'connection_timeout',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_untrusted',
  CERT_UNTRUSTED: 'certificate_untrusted',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name_wrong',
  HOSTNAME_MISMATCH: 'certificate_name_wrong',
  CERT_SIGNATURE_FAILURE: 'certificate_invalid',
  CERT_CHAIN_TOO_LONG: 'certificate_invalid',
  CERT_REVOKED: 'certificate_invalid',
  CERT_REJECTED: 'certificate_invalid',
  INVALID_CA: 'certificate_invalid',
  INVALID_PURPOSE: 'certificate_invalid',
  PATH_LENGTH_EXCEEDED: 'certificate_invalid',
  EPROTO: 'tls_failed',
};

function toOutgoingError(error: unknown): OutgoingError {
  if (error instanceof OutgoingError) return error;
  const code = codeOf(error);
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS_')) {
    return new OutgoingError(failureByCode[code] ?? 'tls_failed');
  }
  if (code.startsWith('HPE_')) return new OutgoingError('not_http');
  return new OutgoingError(failureByCode[code] ?? 'connection_failed');
}
