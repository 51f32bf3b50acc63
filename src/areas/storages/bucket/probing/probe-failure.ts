import type { OutgoingFailure, OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import type { TestFailure, ProbeFailureCode } from '../../domain/delivery/test-failure.js';
import { readStorageError, type StorageError } from './provider-codes.js';

export type ProbeFailure = TestFailure & { readonly code: ProbeFailureCode };

export type ProbeStep = 'list' | 'write' | 'read' | 'delete';

const denied: Readonly<Record<ProbeStep, ProbeFailureCode>> = {
  list: 'request_refused',
  write: 'write_denied',
  read: 'read_denied',
  delete: 'delete_denied',
};

/**
 * Translates a storage's reply without success. Of the reply it keeps only the region's id.
 * @param error the error document of the reply, where the caller has read it
 */
export async function failureOfReply(
  step: ProbeStep,
  { status, headers, body }: OutgoingReply,
  error?: StorageError | null,
): Promise<ProbeFailure> {
  const read = error === undefined ? await readStorageError(body) : error;
  const code =
    read?.cause ??
    byStatus(status) ??
    // A storage's reply contains an error. That of a proxy or of another server does not.
    (read === null ? causeOfStranger(step, status, body.toString('utf8')) : unknownCause(step, status));
  if (!placed.has(code)) return { code, hint: null };
  const inHeader = /^[A-Za-z0-9-]{1,64}$/.exec(headers['x-amz-bucket-region'] ?? '')?.[0];
  return { code, hint: inHeader ?? read?.region ?? null };
}

/** The causes with which a storage may name the region of the bucket. */
const placed = new Set<ProbeFailureCode>(['region_wrong', 'bucket_in_other_place']);

function byStatus(status: number): ProbeFailureCode | undefined {
  if (status === 429) return 'throttled';
  return status >= 500 ? 'storage_unavailable' : undefined;
}

/** Returns the cause of a storage's reply with a code that no rule knows. */
function unknownCause(step: ProbeStep, status: number): ProbeFailureCode {
  if (status >= 300 && status < 400) return 'bucket_in_other_place';
  // The object was written a moment before.
  if (step === 'read' && status === 404) return 'content_changed';
  return status === 403 ? denied[step] : 'request_refused';
}

/** Returns the cause of a reply that is not a storage's. */
function causeOfStranger(step: ProbeStep, status: number, body: string): ProbeFailureCode {
  if (status >= 300 && status < 400) return 'redirected';
  if (step === 'write' && status === 413) return 'upload_limited';
  // The words of Go's net/http and of nginx.
  if (/HTTP request (?:was sent )?to (?:an )?HTTPS/.test(body)) return 'https_expected';
  return 'not_a_storage';
}

/** Translates a reply of the public endpoint to a signed upload that the bucket accepts at its own endpoint. */
export function failureOfPublicEndpoint({ status }: OutgoingReply): ProbeFailure {
  if (status === 413) return { code: 'upload_limited', hint: null };
  if (status === 429 || status >= 500) return { code: 'storage_unavailable', hint: null };
  return { code: 'public_endpoint_wrong', hint: null };
}

/** Translates a reply through `cdn_domain` that is neither the object nor a part of it. */
export function failureOfCdnReply(status: number, { isSigned }: { isSigned: boolean }): ProbeFailure {
  if (status >= 300 && status < 400) return { code: 'cdn_redirected', hint: null };
  if (status === 404) return { code: 'cdn_not_found', hint: null };
  if (status === 429 || status >= 500) return { code: 'cdn_failed', hint: null };
  return { code: isSigned ? 'cdn_signature_refused' : 'cdn_not_public', hint: null };
}

export function failureOfConnection(failure: OutgoingFailure): ProbeFailure {
  return { code: failure === 'not_http' ? 'not_a_storage' : failure, hint: null };
}

export function failureOfCdnConnection(failure: OutgoingFailure): ProbeFailure {
  switch (failure) {
    case 'address_refused':
      return { code: 'cdn_address_refused', hint: null };
    case 'host_not_found':
      return { code: 'cdn_host_not_found', hint: null };
    case 'certificate_name_wrong':
    case 'certificate_expired':
    case 'certificate_untrusted':
    case 'certificate_invalid':
    case 'tls_failed':
      return { code: `cdn_${failure}`, hint: null };
    case 'host_not_resolved':
    case 'connection_refused':
    case 'connection_failed':
    case 'connection_timeout':
    case 'not_http':
      return { code: 'cdn_unreachable', hint: null };
  }
}
