import { projectCodec } from '../../areas/projects/domain/project/events.js';
import { shareCodec } from '../../areas/shares/domain/share/events.js';
import { storageCodec } from '../../areas/storages/domain/storage/events.js';
import { type LogEvent, streamIdOf } from '../../event-sourcing/ports/domain-event.js';
import type { LastingScope } from '../../keys/sealing/key-scope.js';

/** Names the data keys that an event is the first to need. */
type NeededDataKeys = (event: LogEvent) => readonly LastingScope[];

/**
 * Makes the function for one pass over the log, from its beginning. It remembers the project of each storage, because the
 * events of later credentials do not name it.
 * @throws from the function: UndecodableEvent
 */
export function makeNeededDataKeys(): NeededDataKeys {
  const projects = new Map<string, string>();

  return (stored) => {
    const id = streamIdOf(stored);
    switch (stored.type) {
      case 'UserRegistered':
        return [{ kind: 'person', userId: id }];
      case 'MemberInvited': {
        const { data } = projectCodec.decode(stored);
        return 'invitation_id' in data && data.invitation_id !== null
          ? [{ kind: 'invitation', projectId: id, invitationId: data.invitation_id }]
          : [];
      }
      case 'ShareCreated': {
        const { data } = shareCodec.decode(stored);
        return 'project_id' in data ? [{ kind: 'share', projectId: data.project_id, shareId: id }] : [];
      }
      case 'StorageCreated': {
        const { data } = storageCodec.decode(stored);
        if (!('credentials_version' in data)) return [];
        projects.set(id, data.project_id);
        return credentials(id, data.credentials_version);
      }
      case 'StorageCredentialsReplaced': {
        const { data } = storageCodec.decode(stored);
        return 'credentials' in data &&
          'version' in data.credentials &&
          typeof data.credentials.version === 'number'
          ? credentials(id, data.credentials.version)
          : [];
      }
      case 'StorageDeliveryChanged': {
        const { data } = storageCodec.decode(stored);
        return 'token' in data && data.token !== null ? credentials(id, data.token.credentials.version) : [];
      }
      default:
        return [];
    }
  };

  function credentials(storageId: string, version: number): readonly LastingScope[] {
    const projectId = projects.get(storageId);
    return projectId === undefined ? [] : [{ kind: 'storage-credentials', projectId, storageId, version }];
  }
}
