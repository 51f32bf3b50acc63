import { announce, makeElement } from '../../../../../http/pages/browser/elements.js';
import { type PreviewCandidate, apartUrlOf, candidatesOf, type Abilities } from './candidates.js';
import { fileKindOf } from '../opening/facts.js';
import type { Wording } from './formats.js';
import { makeIcon, makeKindIcon } from '../brand.js';
import { makePlayer, type Player } from './player.js';
import type { SharedFile, SharedTerms } from '../opening/share-reply.js';
import { addSubtitles } from './subtitles.js';

interface Scene {
  readonly terms: SharedTerms;
  readonly candidates: readonly PreviewCandidate[];
  file: SharedFile;
  shown: { readonly candidate: PreviewCandidate; readonly player: Player; isLoaded: boolean } | null;
  /** The URL with which playback goes on. */
  fresh: string | null;
}

const slowAfterMs = 20_000;

/**
 * The part of the page that shows one file.
 * @param mayHaveExpired whether the URLs are at their end; `renew` then fetches others
 */
export function makeStage(
  deps: Wording & {
    readonly place: HTMLElement;
    readonly remark: HTMLElement;
    readonly abilities: Abilities;
    readonly mayHaveExpired: () => boolean;
    readonly renew: () => void;
  },
) {
  const { place, remark, words, formats, abilities, mayHaveExpired, renew } = deps;
  let scene: Scene | null = null;
  let slowTimer = 0;

  function begin(file: SharedFile, terms: SharedTerms): void {
    clear();
    const mine: Scene = { file, terms, candidates: candidatesOf(file, abilities), shown: null, fresh: null };
    scene = mine;
    if (mine.candidates.length === 0) showNone(file, terms);
    else attempt(mine, 0);
  }

  function attempt(mine: Scene, index: number): void {
    const candidate = mine.candidates[index];
    if (candidate === undefined) {
      showFailure(mine);
      return;
    }
    const player = makePlayer(candidate, mine.file);
    if (!mine.terms.allow_download) player.media?.setAttribute('controlslist', 'nodownload');
    const shown = { candidate, player, isLoaded: false };
    mine.shown = shown;
    place.className = `stage ${candidate.viewer} is-loading`;
    place.replaceChildren(player.element, makeElement('span', { class: 'spinner', 'aria-hidden': 'true' }));
    watchSlowness(mine);
    player.source.addEventListener(player.loadedBy, () => {
      if (scene !== mine || mine.shown !== shown) return;
      shown.isLoaded = true;
      endLoading();
      const isInstead = candidate.viewer === 'image' && mine.candidates[0]?.viewer !== 'image';
      announce(remark, isInstead ? words.say('preview.failed.still') : '');
    });
    player.source.addEventListener('error', () => {
      if (scene === mine && mine.shown === shown) fail(mine, index);
    });
    player.media?.addEventListener('pause', () => {
      if (scene === mine && player.media?.ended === false) swap(mine);
    });
    player.start();
    if (player.media instanceof HTMLVideoElement) void subtitle(mine, player.media);
  }

  async function subtitle(mine: Scene, video: HTMLVideoElement): Promise<void> {
    const isWhole = await addSubtitles(video, mine.file, formats);
    if (!isWhole && scene === mine) announce(remark, words.say('preview.subtitles'));
  }

  /** A link may have expired during playback. All other errors are of files that the browser cannot show. */
  function fail(mine: Scene, index: number): void {
    const { shown } = mine;
    if (shown?.isLoaded === true && shown.player.media !== null) {
      if (mine.fresh !== null) swap(mine);
      else if (mayHaveExpired()) renew();
      else showFailure(mine);
      return;
    }
    attempt(mine, index + 1);
  }

  /** Goes on with a fresh link at the same position. */
  function swap(mine: Scene): void {
    const media = mine.shown?.player.media ?? null;
    if (media === null || mine.fresh === null) return;
    const [at, goesOn] = [media.currentTime, !media.paused || media.error !== null];
    const url = mine.fresh;
    mine.fresh = null;
    const resume = (): void => {
      media.currentTime = at;
      if (goesOn) media.play().catch(() => undefined);
    };
    media.addEventListener('loadedmetadata', resume, { once: true });
    media.src = url;
  }

  /** Takes over fresh URLs of the same file. Playback goes on with them at its next pause. */
  function refresh(file: SharedFile): void {
    if (scene === null || scene.file.id !== file.id) return;
    scene.file = file;
    const { shown } = scene;
    const media = shown?.player.media ?? null;
    const found = file.media.find(({ kind, language = null }) => {
      const now = shown?.candidate.file;
      return kind === now?.kind && language === (now.language ?? null);
    });
    if (media === null || found === undefined) return;
    scene.fresh = found.url;
    if (media.paused || media.error !== null) swap(scene);
  }

  function showNone(file: SharedFile, terms: SharedTerms): void {
    const kept = terms.allow_download ? 'preview.none.download' : 'preview.kept';
    const key = apartUrlOf(file, abilities) === null ? kept : 'preview.apart';
    place.className = 'stage empty';
    place.replaceChildren(makeKindIcon(fileKindOf(file.media_type)), makeElement('p', {}, words.say(key)));
  }

  function showFailure(mine: Scene): void {
    mine.shown = null;
    endLoading();
    const again = makeElement('button', { type: 'button', class: 'second' }, words.say('again'));
    again.addEventListener('click', () => {
      if (mayHaveExpired()) renew();
      begin(mine.file, mine.terms);
    });
    place.className = 'stage empty';
    const text = makeElement('p', { role: 'alert' }, words.say('preview.failed'));
    place.replaceChildren(makeIcon('broken'), text, again);
  }

  function watchSlowness(mine: Scene): void {
    clearTimeout(slowTimer);
    slowTimer = setTimeout(() => {
      if (scene === mine && mine.shown?.isLoaded === false) announce(remark, words.say('preview.slow'));
    }, slowAfterMs);
  }

  function endLoading(): void {
    clearTimeout(slowTimer);
    place.classList.remove('is-loading');
    place.querySelector('.spinner')?.remove();
  }

  function clear(): void {
    scene = null;
    clearTimeout(slowTimer);
    announce(remark, '');
    // A removed player would go on to load.
    place.querySelector<HTMLMediaElement>('video, audio')?.removeAttribute('src');
    place.className = 'stage';
    place.replaceChildren();
  }

  return {
    /** Shows the file by the first candidate that loads. */
    show: begin,
    refresh,
    clear,
  };
}
