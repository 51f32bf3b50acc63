import { userEvents } from '../../areas/accounts/domain/user/events.js';
import { checkoutEvents } from '../../areas/payments/domain/checkout/events.js';
import { orderEvents } from '../../areas/payments/domain/order/events.js';
import { reportName } from '../../areas/payments/domain/payment.js';
import { transactionEvents } from '../../areas/payments/domain/transaction/events.js';
import { projectEvents } from '../../areas/projects/domain/project/events.js';
import { shareMailEvents } from '../../areas/shares/domain/share-mail/events.js';
import { shareEvents } from '../../areas/shares/domain/share/events.js';
import { storageEvents, type StorageEvent } from '../../areas/storages/domain/storage/events.js';
import { parseStreamName, type StoredEvent, streamIdOf } from '../../event-sourcing/ports/domain-event.js';
import { type LastingScope, paymentNoteScope } from '../../keys/sealing/envelope.js';

/**
 * Makes the function for one pass over the log, from its beginning: it names the data key that an event is the first to need.
 * It goes by the fields that are sealed. It remembers the project of each storage, because the events of later credentials do
 * not name it.
 * @throws from the function: UndecodableEvent
 */
export function makeNeededDataKeys(): (event: StoredEvent) => readonly LastingScope[] {
  const projects = new Map<string, string>();
  const ofCategory: Readonly<Record<string, (event: StoredEvent, id: string) => LastingScope | null>> = {
    [userEvents.category]: ({ revision }, userId) => (revision === 0n ? { kind: 'person', userId } : null),
    [projectEvents.category]: (event, projectId) => {
      const { data } = projectEvents.codec.decode(event);
      return 'invitation_id' in data && 'email' in data
        ? { kind: 'invitation', projectId, invitationId: data.invitation_id }
        : null;
    },
    [shareEvents.category]: (event, shareId) => {
      const { data } = shareEvents.codec.decode(event);
      return 'project_id' in data ? { kind: 'share', projectId: data.project_id, shareId } : null;
    },
    [shareMailEvents.category]: (event, mailId) => {
      const { data } = shareMailEvents.codec.decode(event);
      const isFirst = 'to' in data && data.number === 0;
      return isFirst ? { kind: 'share-mail', projectId: data.project_id, mailId } : null;
    },
    [storageEvents.category]: (event, storageId) => {
      const { data } = storageEvents.codec.decode(event);
      if ('project_id' in data) projects.set(storageId, data.project_id);
      const [version, projectId] = [versionIn(data), projects.get(storageId)];
      return version === undefined || projectId === undefined
        ? null
        : { kind: 'storage-credentials', projectId, storageId, version };
    },
    [orderEvents.category]: (event) => {
      const { data } = orderEvents.codec.decode(event);
      return 'note_of' in data ? noteKey(data.callback, data.note_of) : null;
    },
    [checkoutEvents.category]: (event) => {
      const { data } = checkoutEvents.codec.decode(event);
      return 'note_of' in data ? noteKey(data.refund, data.note_of) : null;
    },
    [transactionEvents.category]: (event, transaction) => {
      const { data } = transactionEvents.codec.decode(event);
      if ('note_of' in data) return noteKey(reportName(transaction, data.report), data.note_of);
      return 'recorded' in data ? noteKey(data.key, data.recorded.note_of) : null;
    },
  };
  return (event) => {
    const needed = ofCategory[parseStreamName(event.stream)?.category ?? '']?.(event, streamIdOf(event));
    return needed === undefined || needed === null ? [] : [needed];
  };
}

/** Returns the separate key of an operator's note. A note of a buyer needs the key of the person, who has registered before. */
function noteKey(paymentId: string, noteOf: string | null): LastingScope | null {
  return noteOf === null ? paymentNoteScope(paymentId, null).scope : null;
}

/** Returns the version of the credentials in an event of a storage. A test that passes makes its candidate the credentials. */
function versionIn(data: StorageEvent['data']): number | undefined {
  if ('credentials_version' in data) return data.credentials_version;
  if ('token' in data) return data.token?.credentials.version;
  if ('candidate' in data) return data.candidate?.credentials?.version;
  return 'credentials' in data ? data.credentials.version : undefined;
}
