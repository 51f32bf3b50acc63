import { byId } from '../../../../http/pages/browser/elements.js';
import { makePasswordForm } from './opening/password-form.js';
import { showBrand } from './brand.js';
import { makeShareFormats } from './player/formats.js';
import { type ShareReply, makeAttemptKey, makeKeptSession, makeShareClient } from './opening/share-client.js';
import { allowOriginsOf } from './player/player.js';
import { makeNotices } from './opening/notices.js';
import { makeOpenedView } from './opening/opened.js';
import { makeRenewal } from './opening/renewal.js';
import { type Introduction, type Opening, openingOf, renewedOpening } from './opening/share-reply.js';
import { readShareWords } from './texts.js';

/** Starts the page: it opens the share by the kept session, without a password where it needs none, or asks for it. */
function visitShare(): void {
  const words = readShareWords(byId('texts', HTMLScriptElement).textContent);
  const formats = makeShareFormats(words.tag, navigator.languages);
  const given = { words, formats };
  const token = location.pathname.split('/')[2] ?? '';
  const kept = makeKeptSession(() => sessionStorage, token);
  const client = makeShareClient(token, kept.visitor);
  const loading = byId('loading', HTMLParagraphElement);
  const renewal = makeRenewal(() => void renew());
  const view = makeOpenedView({
    ...given,
    abilities: abilitiesOfBrowser(),
    mayHaveExpired: renewal.isDue,
    renew: () => void renew(),
    onSave: (id) => {
      if (opening !== null) client.countSave(opening.session, id);
    },
  });
  const notices = makeNotices(given);
  const form = makePasswordForm(given, client.verify, { onOpened: open, onGone: leave });
  let opening: Opening | null = null;
  let project: Opening['project'] = null;
  // A repetition uses the same key, so that a lost reply counts as one use.
  let key = makeAttemptKey();

  async function start(): Promise<void> {
    notices.hide();
    loading.hidden = false;
    const before = kept.read();
    const introducing = client.introduce();
    const renewed = before === null ? null : await client.renew(before.session);
    const introduced = await introducing;
    loading.hidden = true;
    brand(introduced, before);
    const again = before !== null && renewed?.status === 200 ? renewedOpening(before, renewed.data) : null;
    // None of the files that the session knows may be in the share any more.
    if (again !== null && renewed !== null && again.files.length > 0) {
      present(again, renewed.aheadMs);
      return;
    }
    // The session may still hold: a share that was used up would not open again without it.
    if (renewed !== null && ![200, 401, 404].includes(renewed.status)) {
      notices.showUnreached(renewed.waitSeconds, () => void start());
      return;
    }
    // A 404 ends no session: the storage of the files may be disabled for a while.
    if (renewed?.status === 401) kept.forget();
    await startAfresh(introduced, null);
  }

  /** The link of a share that was used up says nothing of its project any more. */
  function brand({ status, data }: ShareReply, before: Opening | null): void {
    project = status === 200 ? (data as Introduction).project : (before?.project ?? null);
    if (project !== null) showBrand(project);
  }

  /** @param complaint why the visitor has to type the password again; null at first */
  async function startAfresh({ status, data, waitSeconds }: ShareReply, complaint: string | null) {
    if (status === 404) await leaveKnown();
    else if (status !== 200) notices.showUnreached(waitSeconds, () => void start());
    else await openIntroduced(data as Introduction, complaint);
  }

  async function openIntroduced(introduction: Introduction, complaint: string | null): Promise<void> {
    if (introduction.password_required) form.show(complaint);
    else if (introduction.limited_uses) notices.showCounted(() => void openWithoutPassword());
    else await openWithoutPassword();
  }

  async function openWithoutPassword(): Promise<void> {
    notices.hide();
    loading.hidden = false;
    const reply = await client.verify(null, key);
    loading.hidden = true;
    if (reply.status === 200) open(reply);
    else if (reply.status === 404) leave(reply);
    // The share has got a password meanwhile.
    else if (reply.status === 401) form.show(null);
    // The lost reply may be of the last use, after which the link says nothing more: the same attempt gets it again.
    else notices.showUnreached(reply.waitSeconds, () => void openWithoutPassword());
  }

  function open({ data, aheadMs }: ShareReply): void {
    const opened = openingOf(data, project);
    kept.keep(opened);
    key = makeAttemptKey();
    present(opened, aheadMs);
  }

  function present(opened: Opening, aheadMs: number): void {
    if (!allowOriginsOf(opened.files)) return;
    opening = opened;
    form.hide();
    renewal.stop();
    renewal.plan(opened, aheadMs);
    view.show(opened);
  }

  async function renew(): Promise<void> {
    const mine = opening;
    if (mine === null) return;
    const reply = await client.renew(mine.session);
    if (opening !== mine) return;
    if (reply.status === 200) {
      await goOn(renewedOpening(mine, reply.data), reply.aheadMs);
    } else if (reply.status === 401) {
      close();
      // The share may need no password any more, or never did.
      await startAfresh(await client.introduce(), words.say('ask.over'));
    } else if (reply.status === 404) {
      await leaveKnown();
    } else {
      renewal.retry(reply.waitSeconds);
    }
  }

  async function goOn(renewed: Opening, aheadMs: number): Promise<void> {
    if (renewed.files.length === 0) {
      // The share has other files than the page knows, as after a reload.
      close();
      await startAfresh(await client.introduce(), null);
      return;
    }
    if (!allowOriginsOf(renewed.files)) return;
    opening = renewed;
    renewal.plan(renewed, aheadMs);
    view.refresh(renewed);
  }

  function close(): void {
    opening = null;
    renewal.stop();
    view.hide();
  }

  function leave({ reason }: Pick<ShareReply, 'reason'>): void {
    close();
    form.hide();
    notices.showGone(reason);
  }

  /** Asks why the link opens nothing, if this visitor has opened it before. The service tells no one else. */
  async function leaveKnown(): Promise<void> {
    leave(kept.visitor() === null ? { reason: '' } : await client.verify(null, makeAttemptKey()));
  }

  void start();
}

function abilitiesOfBrowser(): Parameters<typeof makeOpenedView>[0]['abilities'] {
  const players = { video: document.createElement('video'), audio: document.createElement('audio') };
  const opensDocuments = navigator.pdfViewerEnabled;
  return {
    canPlay: (viewer, mediaType) => players[viewer].canPlayType(mediaType),
    opensDocuments,
    // Phones and tablets show the first page of a framed document, or a button.
    showsDocuments:
      opensDocuments && matchMedia('(min-width: 40rem)').matches && !matchMedia('(pointer: coarse)').matches,
  };
}

visitShare();
