import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { rejectShare, shareNotFound, type ShareRejection } from '../../domain/share/rejections.js';
import {
  isProtected,
  type OpenShare,
  shareAggregate,
  untilEnd,
  mayReportAgain,
  type ProtectedShare,
  throttledEveryMs,
} from '../../domain/share/share.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { AssetResource } from '../../../../../projections/assets/assets/reader.js';
import type { MediaLink } from '../../../assets/commands/media/media-links.js';
import type { Accesses, VisitedShare, Visits } from './visits.js';
import {
  isRejection,
  type OnUncheckable,
  refuseUncheckable,
  TooManyAttempts,
} from '../../../shared/rejections.js';
import { type KnownDevice, makeGuard, type TryingClient } from '../../../../security/guessing/guard.js';
import type { SharedMedia } from './media.js';
import type { PasswordClass } from '../../domain/share/password.js';
import { guessing, notedFailures } from '../../../../security/guessing/guessing.js';
import { refuseWhenFull } from '../sharing.js';

export { checkTriedPassword } from '../../domain/share/password.js';

export interface VerifyShareInput {
  readonly token: string;
  /** Null: the visitor gives none. */
  readonly password: string | null;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The session of an earlier visit, which may have ended. */
  readonly session?: string | undefined;
  /** The visitor, if it opened the share before (`visitorOf`); null when left out. */
  readonly known?: KnownDevice | null;
}

export type OpenedAsset = { readonly asset: AssetResource; readonly media: MediaLink[] };

export interface OpenedShare {
  readonly share: OpenShare;
  readonly title: string | null;
  readonly note: string | null;
  /** The nickname of the sharer; null where the share does not show it, or an API key made the share. */
  readonly sender: string | null;
  /** Null where uses are not limited. */
  readonly remaining_uses: number | null;
  readonly assets: readonly [OpenedAsset, ...OpenedAsset[]];
  readonly session: string;
  readonly sessionEndsAt: Date;
}

/** The life of a share session (src/areas/shares/README.md#share-verification). */
const sessionMs = 12 * 3_600_000;

/**
 * Checks a share's password (src/areas/shares/README.md#share-verification). A repeated command checks again, signs new URLs, and
 * counts one use in all.
 * @throws CommandRejected share_not_found, share_password_wrong, password_not_checkable;
 * TooManyAttempts; StoreUnavailable
 */
export function makeVerifyShare(
  deps: ShareDeps &
    Pick<Visits, 'findVisitedShare' | 'endingFor'> &
    Pick<SharedMedia, 'signSharedMedia'> &
    Pick<Accesses, 'recordAccess'>,
) {
  const { handler, sealer, digests, clock, shares, assets: assetViews, users, shareSessions } = deps;
  const { findVisitedShare, endingFor, signSharedMedia, recordAccess } = deps;
  const trySharePassword = makeTrySharePassword(deps);
  return async (
    { token, password, clientIp, session: earlier, known = null }: VerifyShareInput,
    context: CommandContext,
  ): Promise<OpenedShare> => {
    const accessId = derivedId(context, 'share-access');
    const found = await findVisitedShare(token, accessId);
    if (found === null) {
      if (password !== null) await trySharePassword.matchesNone(password);
      return shareNotFound(await endingFor({ token, session: earlier }, clock.now()));
    }
    const { shareId, share } = found;
    if (isProtected(share)) {
      if (password === null) return refuse('the share needs a password');
      const tried = { shareId, share, password, clientIp, known };
      if (!(await trySharePassword.matches(tried, context))) return refuse();
    }
    // The URLs and the assets, which may be missing, come before the use is counted.
    const now = clock.now();
    const { project_id, password_generation: passwordGeneration } = share;
    const [assets, texts, sender] = await Promise.all([
      openedAssets(found, now),
      openedTexts(found),
      senderOf(share),
    ]);
    const [first, ...others] = assets;
    if (first === undefined || texts === null) return shareNotFound();
    const remaining_uses = await use(found, { accessId, now }, context);
    const access = { share_id: shareId, project_id, client_ip_digest: digests.ip(clientIp) };
    await recordAccess(accessId, access, context);
    const sessionEndsAt = untilEnd(share, new Date(now.getTime() + sessionMs));
    const session = shareSessions.issue({ shareId, accessId, passwordGeneration, endsAt: sessionEndsAt });
    return { share, ...texts, sender, remaining_uses, assets: [first, ...others], session, sessionEndsAt };
  };

  async function openedAssets(found: VisitedShare, now: Date): Promise<readonly OpenedAsset[]> {
    const ids = found.shared.served.map(({ assetId }) => assetId);
    const [signed, resources] = await Promise.all([
      signSharedMedia(found, now),
      assetViews.findMany(found.share.project_id, ids),
    ]);
    return signed.flatMap(({ assetId, media }) => {
      const asset = resources.get(assetId);
      return asset === undefined ? [] : [{ asset, media }];
    });
  }

  async function senderOf({ show_sender, created_by }: OpenShare): Promise<string | null> {
    if (!show_sender || created_by === null) return null;
    return (await users.people([created_by])).get(created_by)?.nickname ?? null;
  }

  /** Returns null where the share was revoked meanwhile. */
  async function openedTexts({
    shareId,
    share: { project_id: projectId, title, note },
  }: VisitedShare): Promise<Pick<OpenedShare, 'title' | 'note'> | null> {
    const scope = { kind: 'share', projectId, shareId } as const;
    const [openTitle, openNote] = await Promise.all([
      title === null ? null : sealer.open(scope, 'title', title),
      note === null ? null : sealer.open(scope, 'note', note),
    ]);
    return openTitle === erased || openNote === erased ? null : { title: openTitle, note: openNote };
  }

  /**
   * Counts the use where uses are limited. It also checks the share again, because the check of the password may have
   * taken seconds. @returns the uses that are left; null where they are not limited
   */
  async function use(
    { shareId, share: { password_generation: passwordGeneration } }: VisitedShare,
    { accessId, now }: { readonly accessId: string; readonly now: Date },
    context: CommandContext,
  ): Promise<number | null> {
    const command = { type: 'Use', accessId, passwordGeneration, now } as const;
    try {
      const { state } = await handler.load(shareAggregate, shareId);
      // Without a limit nothing is appended and no document is written, so a busy share is no hot spot.
      if (state.status === 'open' && state.max_uses === null) {
        shareAggregate.decider.decide(command, state);
        return null;
      }
      const { documents } = await handler.handle(shareAggregate.at(shareId), command, context);
      return shares.remainingUses(documents);
    } catch (error) {
      // The password changed after the check.
      if (isRejection<ShareRejection>(error, 'share_password_changed')) return refuse();
      throw error;
    }
  }
}

function refuse(message = 'the password is wrong'): never {
  return rejectShare('share_password_wrong', message);
}

export interface SharePasswordTry {
  readonly shareId: string;
  readonly share: ProtectedShare;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The visitor, if it gave this password before; null: a stranger. */
  readonly known: KnownDevice | null;
}

const advice =
  'this password cannot be checked: ask the sender to set a new one, or the operator to restore the missing key';

/** Checks passwords of shares, and slows guessing down (src/security/README.md#guessing). */
export function makeTrySharePassword(deps: ShareDeps) {
  const { handler, sealer, sharePasswords, background, onFailure, clock } = deps;
  const guardOf = (name: PasswordClass) =>
    makeGuard({ ...deps, name: `share-${name}`, limits: guessing.sharePassword.failures[name] });
  const guards = { short: guardOf('short'), long: guardOf('long') };
  const onUncheckable: OnUncheckable = (error) => {
    onFailure(`the password of a share could not be checked: ${error.message}`, error);
  };
  return {
    /** Checks a password. @throws TooManyAttempts; CommandRejected password_not_checkable; StoreUnavailable */
    matches: async (tried: SharePasswordTry, context: CommandContext) => {
      const { shareId, share, clientIp, known } = tried;
      // A visitor hashes among those of its network: sessions of many shares would take the lane of known devices.
      const by = { ip: clientIp, known: null };
      const attempt = {
        // A new password is another secret, so it begins with no failures.
        subject: `${shareId} ${share.password_generation}`,
        client: { ip: clientIp, known },
        admit: () => {
          sharePasswords.requireRoom(by);
        },
        tell: async () => {
          const command = { type: 'RecordGuessing', now: clock.now() } as const;
          await handler.handle(shareAggregate.at(shareId), command, stepContext(context, 'guessing'));
        },
      };
      const run = () => guards[share.password_class].run(attempt, () => check(tried, by));
      const outcome = await refuseUncheckable(() => refuseWhenFull(run), { advice, onUncheckable });
      if (outcome.outcome === 'passed') return true;
      const isThrottled = outcome.outcome === 'throttled';
      if (isThrottled || outcome.recent >= notedFailures) recordThrottling(tried, outcome.recent, context);
      if (isThrottled) throw new TooManyAttempts(outcome.retryAfterSeconds);
      return false;
    },
    /**
     * Hashes a password for a share that does not open, at the cost of a wrong one. No password is right there, so the
     * hash waits behind those of all clients. @throws TooManyAttempts
     */
    matchesNone: async (password: string) => {
      await refuseWhenFull(async () => {
        for (const form of formsOf(password)) await sharePasswords.verifyNone(form, null);
      });
    },
  };

  /** Returns true, or null for a wrong password, as `Guard` requires. */
  async function check(
    { shareId, share, password }: SharePasswordTry,
    by: TryingClient,
  ): Promise<true | null> {
    const scope = { kind: 'share', projectId: share.project_id, shareId } as const;
    const stored = await sealer.open(scope, 'password_hash', share.password_hash);
    for (const form of formsOf(password)) {
      const { matches } = await (stored === erased
        ? sharePasswords.verifyNone(form, by)
        : sharePasswords.verify(form, stored, by));
      if (matches) return true;
    }
    return null;
  }

  /** Records after the reply that clients guess at the share. */
  function recordThrottling(
    { shareId, share: { throttled_at } }: SharePasswordTry,
    recent: number,
    context: CommandContext,
  ): void {
    const now = clock.now();
    if (!mayReportAgain(throttled_at, throttledEveryMs, now)) return;
    background.startOnce(`throttled ${shareId}`, 'the throttling of a share was not recorded', async () => {
      const command = { type: 'RecordThrottled', failures: Math.max(1, recent), now } as const;
      await handler.handle(shareAggregate.at(shareId), command, context);
    });
  }
}

/** People paste blanks with a password, so the form without them counts too. Both are one attempt. */
function formsOf(password: string): readonly string[] {
  const trimmed = password.trim();
  return trimmed === '' || trimmed === password ? [password] : [password, trimmed];
}
