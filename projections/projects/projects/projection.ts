import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  projectCodec,
  type ProjectEvent,
  projectCategory,
} from '../../../src/areas/projects/domain/project/events.js';
import {
  fieldsAfter,
  ownersOf,
  type ProjectFields,
} from '../../../src/areas/projects/domain/project/fold.js';

export type ProjectDocument = ProjectFields & {
  /** The payer and the owners: the project counts for each of them (src/areas/projects/README.md#limits-over-streams). */
  readonly owner_ids: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: ProjectDocument | null, event: Recorded<ProjectEvent>): ProjectDocument | null {
  const fields = fieldsAfter(document, event);
  if (fields === null) return null;
  const created_at = document?.created_at ?? event.time;
  return { ...fields, owner_ids: ownersOf(fields), created_at, updated_at: event.time };
}

export const projectsProjection: Projection<ProjectDocument, ProjectEvent> = {
  name: 'projects',
  version: 5,
  category: projectCategory,
  codec: projectCodec,
  indexes: [
    'members.user_id',
    'billed_to',
    'owner_ids',
    'invitations.email_digest',
    'offers.user_id',
    'api_keys.digest',
  ],
  evolve,
};
