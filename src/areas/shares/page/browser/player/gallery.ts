import { byId, makeElement } from '../../../../../http/pages/browser/elements.js';
import { stillOf } from './candidates.js';
import { describeKind, fileKindOf } from '../opening/facts.js';
import type { Wording } from './formats.js';
import { makeKindIcon } from '../brand.js';
import type { SharedFile } from '../opening/share-reply.js';

/**
 * The tiles of a share of several files, and the way from one to the next.
 * @param choose receives the file that the visitor wants to see
 */
export function makeGallery({ words, formats }: Wording, choose: (file: SharedFile) => void) {
  const [section, list, turn] = [
    byId('files', HTMLElement),
    byId('gallery', HTMLUListElement),
    byId('turn', HTMLDivElement),
  ];
  const [previous, next] = [byId('previous', HTMLButtonElement), byId('next', HTMLButtonElement)];
  let files: readonly SharedFile[] = [];
  let current = 0;
  const step = (by: number) => (): void => {
    const file = files[current + by];
    if (file !== undefined) choose(file);
  };
  previous.addEventListener('click', step(-1));
  next.addEventListener('click', step(1));
  document.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || turn.hidden || isTaken(event)) return;
    step(document.documentElement.dir === 'rtl' ? -by : by)();
  });

  function makeTile(file: SharedFile): HTMLLIElement {
    const picture = makeElement('span', { class: 'picture' }, makeKindIcon(fileKindOf(file.media_type)));
    const still = stillOf(file, 'thumbnail');
    if (still !== null) picture.append(makeThumbnail(still.url));
    const facts = `${describeKind(file.media_type, words)} · ${formats.size(file.size)}`;
    const name = makeElement('span', { class: 'name', dir: 'auto' }, file.name);
    const tile = makeElement(
      'button',
      { type: 'button' },
      picture,
      name,
      makeElement('span', { class: 'faint' }, facts),
    );
    tile.addEventListener('click', () => choose(file));
    return makeElement('li', {}, tile);
  }

  return {
    /** Shows the tiles; none for a share of one file. */
    fill: (all: readonly SharedFile[]) => {
      files = all;
      const isSeveral = all.length > 1;
      section.hidden = !isSeveral;
      turn.hidden = !isSeveral;
      list.replaceChildren(...(isSeveral ? all.map(makeTile) : []));
    },
    /** Takes over fresh URLs of the same files. A browser loads a thumbnail when its tile comes near the screen. */
    freshen: (all: readonly SharedFile[]) => {
      for (const [index, file] of all.entries()) {
        const image = list.children[index]?.querySelector('img') ?? null;
        const still = stillOf(file, 'thumbnail');
        if (image?.complete === false && still !== null) image.src = still.url;
      }
    },
    /** Marks the shown file. */
    mark: (file: SharedFile) => {
      current = Math.max(
        0,
        files.findIndex(({ id }) => id === file.id),
      );
      byId('place-name', HTMLElement).textContent = file.name;
      const [place, count] = [formats.count(current + 1), formats.count(files.length)];
      byId('place-count', HTMLSpanElement).textContent = words.say('gallery.place', { place, count });
      previous.disabled = current === 0;
      next.disabled = current >= files.length - 1;
      for (const [index, tile] of list.querySelectorAll('button').entries()) {
        tile.setAttribute('aria-current', String(index === current));
      }
    },
  };
}

/** A thumbnail that does not load leaves the icon behind it. */
function makeThumbnail(url: string): HTMLImageElement {
  const image = makeElement('img', { alt: '', loading: 'lazy', decoding: 'async', src: url });
  image.addEventListener('error', () => image.remove());
  return image;
}

/** A player and a field use the arrow keys. */
function isTaken({ target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey) return true;
  return target instanceof Element && target.closest('video, audio, input, iframe, blockquote') !== null;
}
