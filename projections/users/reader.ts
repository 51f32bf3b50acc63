import type { SessionEpoch } from '../../src/domain/session-epoch.js';
import type { Clock } from '../../src/event-sourcing/ports/clock.js';
import type { Sealed } from '../../src/event-sourcing/ports/sealed.js';
import type { Versioned, ViewDocument, Views } from '../../src/event-sourcing/views/views.js';
import { erased, type Sealer } from '../../src/keys/sealer.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { capacityOf, makeUsageReader } from '../usage/reader.js';
import { type UserDocument, usersProjection } from './projection.js';
import { resourceOf } from '../resource-of.js';
import { userResource, type UserResource } from './resource.js';

export type { UserResource } from './resource.js';

/** The fields of a user that authentication reads on every request, and the document that they are from. */
export interface UserAccess extends SessionEpoch {
  readonly twoFactorEnabled: boolean;
  readonly platformRoles: readonly string[];
  readonly document: ViewDocument<UserDocument>;
}

/** @throws StoreUnavailable; errors of `Sealer.open` where personal data is opened */
export interface UserReader {
  find(userId: string): Promise<Versioned<UserResource> | null>;
  /** Returns the user of a document that was just read. */
  present(document: ViewDocument<UserDocument>): Promise<Versioned<UserResource>>;
  /** Returns the fields that other users may see, by user id; without users that do not exist. */
  people(userIds: readonly string[]): Promise<ReadonlyMap<string, Pick<UserResource, 'email' | 'nickname'>>>;
  /** Returns the user after the registration, without any project yet. */
  registered(documents: DocumentsAfter): Promise<Versioned<UserResource>>;
  /** Returns the user after a command. */
  after(documents: DocumentsAfter): Promise<Versioned<UserResource>>;
}

export function makeUserReader({
  views,
  sealer,
  clock,
}: {
  readonly views: Views;
  readonly clock: Clock;
  readonly sealer: Pick<Sealer, 'open'>;
}): UserReader {
  const users = views.of(usersProjection);
  const usage = makeUsageReader({ views, clock });
  return {
    find: async (userId) => {
      const [document, usedBytes] = await Promise.all([users.get(userId), usage.usedBytes(userId)]);
      return document === null ? null : present(document, usedBytes);
    },
    present: presentNow,
    people: async (userIds) => {
      const documents = await users.getMany(userIds);
      return new Map(
        await Promise.all(
          documents.map(async (document) => [document.id, await openPerson(document)] as const),
        ),
      );
    },
    registered: (documents) => present(documentAfter(usersProjection, documents), 0),
    after: (documents) => presentNow(documentAfter(usersProjection, documents)),
  };

  async function presentNow(document: ViewDocument<UserDocument>): Promise<Versioned<UserResource>> {
    return present(document, await usage.usedBytes(document.id));
  }

  /** Opens the personal data. After the erasure each text is `erased`. */
  async function openPerson({
    id,
    body,
  }: ViewDocument<UserDocument>): Promise<Pick<UserResource, 'email' | 'nickname'>> {
    const open = async (field: string, sealed: Sealed): Promise<string> => {
      const text = await sealer.open({ kind: 'person', userId: id }, field, sealed);
      return text === erased ? 'erased' : text;
    };
    const [email, nickname] = await Promise.all([open('email', body.email), open('nickname', body.nickname)]);
    return { email, nickname };
  }

  async function present(
    document: ViewDocument<UserDocument>,
    usedBytes: number,
  ): Promise<Versioned<UserResource>> {
    const { id, revision, body } = document;
    const fields = { ...body, ...(await openPerson(document)), capacity_bytes: capacityOf(body) };
    return { revision, resource: resourceOf(userResource, { id, ...fields, used_bytes: usedBytes }) };
  }
}

export function userAccessOf(document: ViewDocument<UserDocument>): UserAccess {
  const { epoch, kept_session_id, two_factor_enabled, platform_roles } = document.body;
  const twoFactorEnabled = two_factor_enabled;
  return { epoch, kept_session_id, twoFactorEnabled, platformRoles: platform_roles, document };
}
