import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import type { FaultStatus } from './faults.js';

export type StatusError = Pick<ServiceError, 'code' | 'details' | 'metadata'>;

/** The address that a follower sends its clients to. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Makes the statuses of EventStoreDB with the metadata by which its clients distinguish them (`RpcExceptions.cs` and
 * `Constants.cs` of EventStore.Core, 21.10).
 */
export function faultStatus(fault: FaultStatus, leader: Endpoint): StatusError {
  switch (fault) {
    case 'unavailable':
      return statusError(status.UNAVAILABLE, 'The server is going away');
    case 'not-ready':
      return statusError(status.UNAVAILABLE, 'Server Is Not Ready');
    case 'timeout':
      return statusError(status.ABORTED, 'Operation timed out: CommitTimeout');
    case 'cancelled':
      return statusError(status.CANCELLED, 'The server cancelled the call');
    case 'unknown':
      return statusError(status.UNKNOWN, 'Exception was thrown by handler.');
    case 'read-all-error':
      return insideRecord('21.10', 'read');
    case 'access-denied':
      return statusError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
    case 'not-leader':
      return statusError(status.NOT_FOUND, 'Leader info available', {
        exception: 'not-leader',
        'leader-endpoint-host': leader.host,
        'leader-endpoint-port': String(leader.port),
      });
  }
}

export function streamDeleted(stream: string): StatusError {
  return statusError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
}

/** What servers of a version answer to a read of the log at a position inside a record, and to a subscription from there. */
const insideRecordTexts = {
  // The answer to any other failed read of the log, too.
  '21.10': { read: 'Unexpected ReadAllResult: Error', subscription: 'Unexpected ReadAllResult: Error' },
  '24.10': {
    read: 'Unexpected ReadAllResult: InvalidPosition',
    subscription: 'Trying to read from an invalid position.',
  },
  '26.0': {
    read: 'Unexpected ReadAllResult: InvalidPosition >> Log record at actual pos 512 has too large length: 1852399987 bytes, while limit is 16777216 bytes.',
    subscription: 'Trying to read from an invalid position.',
  },
} as const;

export type InsideRecordVersion = keyof typeof insideRecordTexts;

export function insideRecord(version: InsideRecordVersion, call: 'read' | 'subscription'): StatusError {
  return statusError(status.UNKNOWN, insideRecordTexts[version][call]);
}

export function notAuthenticated(): StatusError {
  return statusError(status.UNAUTHENTICATED, 'Bad credentials');
}

export function consumerTooSlow(): StatusError {
  return statusError(status.ABORTED, 'Operation timed out: Consumer too slow to handle event while live.');
}

function statusError(
  code: status,
  details: string,
  metadata: Readonly<Record<string, string>> = {},
): StatusError {
  const trailer = new Metadata();
  for (const [key, value] of Object.entries(metadata)) trailer.set(key, value);
  return { code, details, metadata: trailer };
}
