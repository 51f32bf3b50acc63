import type { AccountFactors, SessionEpoch } from '../../../src/areas/accounts/domain/guard.js';
import type { Sealed } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Page, Versioned, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import { erased, type Sealer } from '../../../src/keys/sealing/sealer.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { capacityOf, type UserDocument, usersProjection } from './projection.js';
import {
  accountResource,
  type AccountResource,
  type MeResource,
  passkeyResource,
  type PasskeyResource,
  userResource,
  type UserResource,
} from './resource.js';

export type { AccountResource, MeResource, PasskeyResource, UserResource } from './resource.js';

/** The fields of a user that authentication reads on every request, and the document that they are from. */
export interface UserAccess extends SessionEpoch {
  readonly factors: AccountFactors;
  readonly platformRoles: readonly string[];
  /** No session of a banned account is valid. */
  readonly banned: boolean;
  readonly document: ViewDocument<UserDocument>;
}

/** @throws StoreUnavailable; errors of `Sealer.open` where personal data is opened */
export type UserReader = ReturnType<typeof makeUserReader>;

export function makeUserReader(deps: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
  /** Sums the bytes of the projects that are billed to a user. Assets are of an area above this one. */
  readonly usedBytes: (userId: string) => Promise<number>;
}) {
  const { views, sealer, usedBytes } = deps;
  const users = views.of(usersProjection);
  return {
    find: async (userId: string) => {
      const [document, used] = await Promise.all([users.get(userId), usedBytes(userId)]);
      return document === null ? null : present(document, used);
    },
    /** Lists all accounts for operators, oldest first. */
    accounts: async (page: Page) => Promise.all((await users.find(page)).map(presentAccount)),
    /** Returns an account for operators, with its sums and its session epoch; null if it does not exist. */
    account: async (userId: string) => {
      const [document, used_bytes] = await Promise.all([users.get(userId), usedBytes(userId)]);
      if (document === null) return null;
      const { epoch, kept_session_id } = document.body;
      const sums = { capacity_bytes: capacityOf(document.body), used_bytes };
      const resource = { ...(await presentAccount(document)), ...sums };
      return { resource, epoch: { epoch, kept_session_id } };
    },
    /** Returns the user of a document that was just read. */
    present: presentNow,
    /** Returns the fields that other users may see, by user id; without users that do not exist. */
    people: async (userIds: readonly string[]) => {
      const documents = await users.getMany(userIds);
      return new Map(
        await Promise.all(
          documents.map(async (document) => [document.id, await openPerson(document)] as const),
        ),
      );
    },
    /** Returns the user after the registration, without any project yet. */
    registered: (documents: DocumentsAfter) => present(documentAfter(usersProjection, documents), 0),
    /** Returns the user's passkeys, in order of registration. */
    passkeys: (document: ViewDocument<UserDocument>) => presentPasskeys(document),
    /** Returns a passkey after a command on its user; null where the user has it no more. */
    passkeyAfter: async (documents: DocumentsAfter, passkeyId: string) => {
      const passkeys = await presentPasskeys(documentAfter(usersProjection, documents));
      return passkeys.find(({ id }) => id === passkeyId) ?? null;
    },
    /** Returns the ids of users with the passkey of a credential, one in practice. @param digest keyed, of the credential's id */
    idsByCredential: (digest: string) =>
      users.ids({ where: { field: 'passkeys.credential_digest', equals: digest }, limit: 2 }),
    /** Returns the session epoch of a user after a command. */
    epochAfter: (documents: DocumentsAfter) => documentAfter(usersProjection, documents).body.epoch,
    /** Returns the user after a command. */
    after: (documents: DocumentsAfter) => presentNow(documentAfter(usersProjection, documents)),
  };

  async function presentNow(document: ViewDocument<UserDocument>): Promise<Versioned<UserResource>> {
    return present(document, await usedBytes(document.id));
  }

  async function presentAccount(document: ViewDocument<UserDocument>): Promise<AccountResource> {
    const { id, body } = document;
    const platform_roles = [...body.platform_roles];
    return resourceOf(accountResource, { id, ...body, ...(await openPerson(document)), platform_roles });
  }

  function presentPasskeys({ id: userId, body }: ViewDocument<UserDocument>): Promise<PasskeyResource[]> {
    return Promise.all(
      body.passkeys.map(async (entry) => {
        const name = await sealer.open({ kind: 'person', userId }, 'passkey_name', entry.name);
        return resourceOf(passkeyResource, { ...entry, name: name === erased ? 'erased' : name });
      }),
    );
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
    used: number,
  ): Promise<Versioned<UserResource>> {
    const { id, revision, body } = document;
    const fields = { ...body, ...(await openPerson(document)), capacity_bytes: capacityOf(body) };
    return { revision, resource: resourceOf(userResource, { id, ...fields, used_bytes: used }) };
  }
}

export function userAccessOf(document: ViewDocument<UserDocument>): UserAccess {
  const { epoch, kept_session_id, two_factor_enabled: totp, totp_at, passkeys, banned } = document.body;
  const { platform_roles: platformRoles, recovery_codes: recoveryCodes } = document.body;
  const ofPasskeys = passkeys.map(({ created_at }) => created_at);
  const ofAll = totp_at === null ? ofPasskeys : [...ofPasskeys, totp_at];
  const since = { totp: earliestOf(ofAll), passkey: earliestOf(ofPasskeys) };
  const factors = { totp, passkey: passkeys.length > 0, recoveryCodes, since };
  return { epoch, kept_session_id, factors, platformRoles, banned, document };
}

function earliestOf(instants: readonly string[]): Date | null {
  const [first] = instants.toSorted();
  return first === undefined ? null : new Date(first);
}

/** Returns the user with the platform roles that authentication has read. */
export function meOf(user: UserResource, { document }: Pick<UserAccess, 'document'>): MeResource {
  return { ...user, platform_roles: [...document.body.platform_roles] };
}
