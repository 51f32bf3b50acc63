import { z } from 'zod';
import { pageQuery, readPage } from '../../../projections/paging.js';
import type { Readers } from '../../../projections/readers.js';
import type { ChangeAccount } from '../../areas/accounts/commands/operating.js';
import { platformRole } from '../../areas/accounts/domain/user/events.js';
import { rejectUser } from '../../areas/accounts/domain/user/rejections.js';
import type { Commands } from '../../areas/commands.js';
import type { Route } from '../../http/route.js';
import type { Clock } from '../../kit/time/clock.js';
import { changing, reading } from './operator-route.js';
import { noFields, noQuery } from '../../http/route-spec.js';
import { ringNames } from '../../keys/rings/key-file-format.js';
import type { KeyChange, KeyRotation } from '../../keys/rings/key-rotation.js';
import type { Sealer } from '../../keys/sealing/sealer.js';

const ring = z.enum(ringNames, { error: `must be one of ${ringNames.join(', ')}` });
const kid = z.string();
const ofRing = z.strictObject({ ring });
const promotion = z.strictObject({ ring, kid: kid.optional(), now: z.boolean() });
const retirement = z.strictObject({ ring, kid, force: z.boolean() });

/** Makes the routes that rotate keys (src/keys/README.md#sealing, docs/keys.md#keys-and-their-rotation). */
export function makeKeyOperations(deps: {
  readonly keyRotation: KeyRotation;
  /** `follow` notes changed rings with the data; it reports its failures itself. */
  readonly keysFollowed: { readonly follow: () => Promise<void> };
  readonly sealer: Pick<Sealer, 'rewrap'>;
}): readonly Route[] {
  const { keyRotation, keysFollowed, sealer } = deps;
  return [
    reading('keys list', noQuery, () => ({ items: keyRotation.list() })),
    changing('keys add', ofRing, (input) => noted(keyRotation.add(input.ring))),
    changing('keys promote', promotion, (input) =>
      noted(keyRotation.promote(input.ring, input.kid ?? null, input)),
    ),
    changing('keys retire', retirement, async (input) =>
      noted(await keyRotation.retire(input.ring, input.kid, input)),
    ),
    changing('keys rewrap', noFields, async () => {
      const { byMasterKey, rewrapped, unreadable } = await sealer.rewrap();
      return { rewrapped, unreadable, data_keys: Object.fromEntries(byMasterKey) };
    }),
  ];

  /** A start after a crash must know the keys of the changed ring. */
  async function noted(change: KeyChange): Promise<KeyChange> {
    await keysFollowed.follow();
    return change;
  }
}

const account = z.strictObject({ email: z.string() });
const accountId = z.strictObject({ user_id: z.uuid().toLowerCase() });
/** An address or an id. It is a parameter or a field, so that no path holds an address. */
const namedAccount = z.strictObject({ account: z.string() });
const platformRoleOf = z.strictObject({ email: z.string(), role: platformRole });

/** `user show` lists at most so many sessions and projects, the newest. */
const shownMax = 100;

/** Makes the routes on accounts (src/operating/README.md#operations). */
export function makeAccountOperations({
  commands,
  readers: { users, sessions, projects },
  clock,
}: {
  readonly commands: Commands;
  readonly readers: Pick<Readers, 'users' | 'sessions' | 'projects'>;
  readonly clock: Pick<Clock, 'now'>;
}): readonly Route[] {
  const change = (name: string, changeAccount: ChangeAccount): Route =>
    changing(name, namedAccount, async ({ account: named }, context) => {
      const { userId, changed } = await changeAccount(named, context);
      return { user_id: userId, changed };
    });
  return [
    reading('user list', pageQuery, (query) => readPage(query, (page) => users.accounts(page))),
    reading('user show', namedAccount, async ({ account: named }) => {
      const { userId } = await commands.accountByName(named);
      const page = { limit: shownMax };
      const found = await users.account(userId);
      if (found === null) return rejectUser('user_not_found', 'there is no such user');
      const owner = { id: userId, ...found.epoch };
      return {
        ...found.resource,
        sessions: await sessions.list(owner, page, clock.now()),
        projects: (await projects.list(userId, page)).map(({ resource: { id, name, role } }) => ({
          ...{ id, name, role },
        })),
      };
    }),
    changing('user verify', account, async ({ email }, context) => ({
      user_id: await commands.verifyEmail({ email }, context),
    })),
    change('user sign-out', commands.signOutUser),
    change('user reset-2fa', commands.resetSecondFactor),
    changing('user restore-address', namedAccount, async ({ account: named }, context) => {
      const account = await commands.accountByName(named);
      await commands.restoreAddress(account, context);
      const found = await users.account(account.userId);
      return { user_id: account.userId, email: found?.resource.email ?? null };
    }),
    change('user ban', commands.banUser),
    change('user unban', commands.unbanUser),
    changing('user erase', accountId, async ({ user_id: userId }, context) => {
      await commands.eraseUser({ userId }, context);
      return { user_id: userId };
    }),
    changing('platform-role grant', platformRoleOf, async ({ email, role }, context) => ({
      user_id: await commands.grantPlatformRole({ email, role }, context),
      role,
    })),
    changing('platform-role revoke', platformRoleOf, async ({ email, role }, context) => ({
      user_id: await commands.revokePlatformRole({ email, role }, context),
      role,
    })),
  ];
}
