import { byId } from '../../../../http/pages/browser/elements.js';
import type { Wording } from './player/formats.js';
import type { Opening } from './opening/share-reply.js';

/** Browsers start a download after the click that asked for it, and the next ones after a pause. */
const pauseMs = 1_500;

/**
 * The button that saves all files of a share, one after the other. The signed URLs have their names.
 * @param given.opening returns the opening with its freshest URLs; null when the page shows none any more
 * @param given.onSave receives the id of each file
 */
export function makeDownloadAll(
  given: Wording & {
    readonly opening: () => Opening | null;
    readonly onSave: (id: string) => void;
  },
) {
  const { words, formats } = given;
  const button = byId('download-all', HTMLButtonElement);
  const line = byId('download-state', HTMLParagraphElement);
  button.addEventListener('click', () => void saveAll());

  async function saveAll(): Promise<void> {
    const ids = given.opening()?.files.map(({ id }) => id) ?? [];
    button.disabled = true;
    for (const [index, id] of ids.entries()) {
      const url = given.opening()?.files.find((file) => file.id === id)?.media[0]?.url;
      // The share may have lost the file, or have ended.
      if (url === undefined) continue;
      const [place, count] = [formats.count(index + 1), formats.count(ids.length)];
      line.textContent = words.say('file.download.running', { place, count });
      given.onSave(id);
      save(url);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    line.textContent = words.say('file.download.done');
    button.disabled = false;
  }

  return {
    /** Shows the button where the share has several files and allows downloads. */
    show: ({ share, files }: Opening) => {
      button.hidden = files.length < 2 || !share.allow_download;
      line.textContent = '';
    },
  };
}

/** A frame saves an attachment, and a page of the bucket that reports an error does not replace this one. */
function save(url: string): void {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.src = url;
  document.body.append(frame);
}
