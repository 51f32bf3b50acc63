/** Returns the scope that seals a note on a payment: the order's buyer `noteOf`, or without a buyer the note itself. */
export function paymentNoteScope(
  paymentId: string,
  noteOf: string | null,
): { readonly scope: LastingScope; readonly field: string } {
  return noteOf === null
    ? { scope: { kind: 'payment-note', paymentId }, field: 'note' }
    : { scope: { kind: 'person', userId: noteOf }, field: `payment-note/${paymentId}` };
}

/** The owner of a sealed value. A lasting scope has one data key, whose destruction erases all values of the scope. */
export type LastingScope =
  | { readonly kind: 'person'; readonly userId: string }
  /** An invited address, maybe without an account. The scope ends with the membership or the withdrawal. */
  | { readonly kind: 'invitation'; readonly projectId: string; readonly invitationId: string }
  /** An operator's note on a payment that concerns no person with a data key. */
  | { readonly kind: 'payment-note'; readonly paymentId: string }
  | { readonly kind: 'share'; readonly projectId: string; readonly shareId: string }
  /** The addresses and the message of a request to mail the link of a share. The scope ends when the mails have gone. */
  | { readonly kind: 'share-mail'; readonly projectId: string; readonly mailId: string }
  | {
      readonly kind: 'storage-credentials';
      readonly projectId: string;
      readonly storageId: string;
      /** The number of the credentials of the storage. Each replacement has a separate key. */
      readonly version: number;
    };

/** A reply in an idempotency claim. It is deleted within 24 h, so the master key seals it and it has no data key. */
interface ReplyScope {
  readonly kind: 'reply';
  /** The key of the claim in the state store. */
  readonly claim: string;
}

export type KeyScope = LastingScope | ReplyScope;

/** Returns the scope as a list of strings, kind first. Two scopes never have the same list. */
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
    case 'share-mail':
      return [scope.kind, scope.projectId, scope.mailId];
    case 'storage-credentials':
      return [scope.kind, scope.projectId, scope.storageId, String(scope.version)];
    case 'reply':
      return [scope.kind, scope.claim];
  }
}

export const dataKeyPrefix = 'data-key/';

/** Returns the key of the scope's wrapped data key in the state store. */
export function dataKeyRecord(scope: LastingScope): string {
  return dataKeyPrefix + scopeParts(scope).map(encodeURIComponent).join('/');
}
