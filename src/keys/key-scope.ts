/** Whose a sealed value is. A scope that lasts has one data key, which is destroyed to erase everything sealed in it. */
export type LastingScope =
  | { readonly kind: 'person'; readonly userId: string }
  /** An address that has been invited and may have no account; gone once it is a member or the invitation is withdrawn. */
  | { readonly kind: 'invitation'; readonly projectId: string; readonly invitationId: string }
  /** What an operator has written about a payment of nobody whose key it could be sealed with. */
  | { readonly kind: 'payment-note'; readonly paymentId: string }
  | { readonly kind: 'share'; readonly projectId: string; readonly shareId: string }
  | {
      readonly kind: 'storage-credentials';
      readonly projectId: string;
      readonly storageId: string;
      /** Counts the credentials of the storage: each replacement has a key of its own. */
      readonly version: number;
    };

/** A reply kept in an idempotency claim: it is gone within 24 h, so it is sealed under the master key, without a data key. */
export interface ReplyScope {
  readonly kind: 'reply';
  /** The key of the claim in the state store. */
  readonly claim: string;
}

export type KeyScope = LastingScope | ReplyScope;

/** The scope as a list of strings, kind first: never the same for two scopes. */
export function scopeParts(scope: KeyScope): readonly string[] {
  switch (scope.kind) {
    case 'person':
      return [scope.kind, scope.userId];
    case 'invitation':
      return [scope.kind, scope.projectId, scope.invitationId];
    case 'payment-note':
      return [scope.kind, scope.paymentId];
    case 'share':
      return [scope.kind, scope.projectId, scope.shareId];
    case 'storage-credentials':
      return [scope.kind, scope.projectId, scope.storageId, String(scope.version)];
    case 'reply':
      return [scope.kind, scope.claim];
  }
}

export const dataKeyPrefix = 'data-key/';

/** Where the state store keeps the scope's wrapped data key. */
export function dataKeyRecord(scope: LastingScope): string {
  return dataKeyPrefix + scopeParts(scope).map(encodeURIComponent).join('/');
}
