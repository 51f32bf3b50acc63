import { byId } from '../../../../../http/pages/browser/elements.js';
import { writeActions } from '../actions.js';
import { makeDownloadAll } from '../download-all.js';
import type { Abilities } from '../player/candidates.js';
import { describeShare } from './facts.js';
import type { Wording } from '../player/formats.js';
import { makeGallery } from '../player/gallery.js';
import type { Opening, SharedFile } from './share-reply.js';
import { makeStage } from '../player/stage.js';

/**
 * The view of an opened share.
 * @param mayHaveExpired see `makeStage`
 */
export function makeOpenedView(
  given: Wording & {
    readonly abilities: Abilities;
    readonly mayHaveExpired: () => boolean;
    readonly renew: () => void;
    /** Receives the id of a file that the visitor saves. */
    readonly onSave: (id: string) => void;
  },
) {
  const { words, formats } = given;
  const panel = byId('opened', HTMLElement);
  const title = byId('title', HTMLHeadingElement);
  const places = {
    actions: byId('actions', HTMLDivElement),
    versions: byId('versions', HTMLDetailsElement),
    versionList: byId('version-list', HTMLUListElement),
  };
  const stage = makeStage({
    ...given,
    place: byId('stage', HTMLDivElement),
    remark: byId('remark', HTMLParagraphElement),
  });
  let opening: Opening | null = null;
  let current: SharedFile | null = null;
  const downloadAll = makeDownloadAll({ ...given, opening: () => opening });
  const gallery = makeGallery(given, ({ id }) => {
    const chosen = opening?.files.find((file) => file.id === id);
    if (chosen === undefined || opening === null) return;
    choose(chosen, opening);
    byId('turn', HTMLDivElement).scrollIntoView({ block: 'nearest' });
  });

  function choose(file: SharedFile, { share, files }: Opening): void {
    current = file;
    gallery.mark(file);
    writeActions(places, { file, terms: share, isOfSeveral: files.length > 1 }, given);
    stage.show(file, share);
  }

  function showTerms({ share, files }: Opening): void {
    const name = share.title ?? share.name;
    title.textContent = name;
    document.title = name;
    byId('facts', HTMLParagraphElement).replaceChildren(
      ...describeShare({ share, files }, words, formats).map((fact) => {
        const part = document.createElement('span');
        part.textContent = fact;
        return part;
      }),
    );
    const note = share.note ?? '';
    byId('sender', HTMLElement).hidden = note === '';
    byId('sender-note', HTMLQuoteElement).textContent = note;
  }

  function showFiles(opened: Opening): void {
    showTerms(opened);
    gallery.fill(opened.files);
    downloadAll.show(opened);
  }

  return {
    show: (opened: Opening) => {
      opening = opened;
      panel.hidden = false;
      showFiles(opened);
      const [first] = opened.files;
      if (first !== undefined) choose(first, opened);
      title.focus();
    },
    /** Takes over an opening with fresh URLs, and without the files that the share has lost. */
    refresh: (opened: Opening) => {
      const isFewer = opened.files.length !== opening?.files.length;
      opening = opened;
      if (isFewer) showFiles(opened);
      else gallery.freshen(opened.files);
      const file = opened.files.find(({ id }) => id === current?.id);
      const [first] = opened.files;
      if (file === undefined) {
        if (first !== undefined) choose(first, opened);
        return;
      }
      current = file;
      if (isFewer) gallery.mark(file);
      const isOfSeveral = opened.files.length > 1;
      writeActions(places, { file, terms: opened.share, isOfSeveral }, given);
      stage.refresh(file);
    },
    hide: () => {
      opening = null;
      current = null;
      stage.clear();
      panel.hidden = true;
      document.title = words.say('page.title');
    },
  };
}
