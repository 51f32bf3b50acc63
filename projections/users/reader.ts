import type { Sealed } from '../../src/event-sourcing/sealed.js';
import type { Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import { erased, type Sealer } from '../../src/keys/sealer.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { capacityOf, makeUsageReader } from '../usage/reader.js';
import { type UserDocument, usersProjection } from './projection.js';

/** `user` of DESIGN 4.1. */
export type UserResource = {
  readonly id: string;
  readonly email: string;
  readonly nickname: string;
  readonly email_verified: boolean;
  readonly two_factor_enabled: boolean;
  readonly capacity_bytes: number;
  readonly used_bytes: number;
  readonly created_at: string;
};

/** What authentication asks of a user, on every request. */
export interface UserAccess {
  /** See `SessionEpoch`. */
  readonly epoch: number;
  readonly keptSessionId: string | null;
  readonly twoFactorEnabled: boolean;
  readonly platformRoles: readonly string[];
}

/** @throws StoreUnavailable; and where personal data is opened what `Sealer.open` throws */
export interface UserReader {
  find(userId: string): Promise<Versioned<UserResource> | null>;
  /** What others may see of the user. */
  person(userId: string): Promise<Pick<UserResource, 'email' | 'nickname'> | null>;
  access(userId: string): Promise<UserAccess | null>;
  /** The user as registering left it: who owns nothing yet. */
  registered(documents: DocumentsAfter): Promise<Versioned<UserResource>>;
  /** The user as a command left it. */
  after(documents: DocumentsAfter): Promise<Versioned<UserResource>>;
}

export function makeUserReader({
  views,
  sealer,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
}): UserReader {
  const users = views.of(usersProjection);
  const usage = makeUsageReader({ views });
  return {
    find: async (userId) => {
      const document = await users.get(userId);
      return document === null ? null : present(document, await usage.usedBytes(userId));
    },
    person: async (userId) => {
      const document = await users.get(userId);
      return document === null ? null : openPerson(document);
    },
    access: async (userId) => {
      const document = await users.get(userId);
      if (document === null) return null;
      const { session_epoch, kept_session_id, two_factor_enabled, platform_roles } = document.body;
      return {
        epoch: session_epoch,
        keptSessionId: kept_session_id,
        twoFactorEnabled: two_factor_enabled,
        platformRoles: platform_roles,
      };
    },
    registered: (documents) => present(documentAfter(usersProjection, documents), 0),
    after: async (documents) => {
      const document = documentAfter(usersProjection, documents);
      return present(document, await usage.usedBytes(document.id));
    },
  };

  /** What was erased meanwhile reads `erased`. */
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
    const { email, nickname } = await openPerson(document);
    const resource = {
      id,
      email,
      nickname,
      email_verified: body.email_verified,
      two_factor_enabled: body.two_factor_enabled,
      capacity_bytes: capacityOf(body),
      used_bytes: usedBytes,
      created_at: body.created_at,
    };
    return { revision, resource };
  }
}
