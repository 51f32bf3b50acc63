import { makeElement } from '../../../../http/pages/browser/elements.js';
import { type Abilities, apartUrlOf, savedVersionsOf } from './player/candidates.js';
import type { Wording } from './player/formats.js';
import { describeKind } from './opening/facts.js';
import { makeIcon } from './brand.js';
import type { MediaFile, SharedFile, SharedTerms } from './opening/share-reply.js';

interface ActionPlaces {
  readonly actions: HTMLElement;
  readonly versions: HTMLDetailsElement;
  readonly versionList: HTMLElement;
}

/**
 * Writes the links of a file: to save it and its renditions where the share allows that, and to open a document where the page
 * cannot show it and the browser can. A link that would save a file that visitors must not save does not exist.
 * @param given.onSave receives the id of the file whenever the visitor follows a link that saves
 */
export function writeActions(
  { actions, versions, versionList }: ActionPlaces,
  input: { readonly file: SharedFile; readonly terms: SharedTerms; readonly isOfSeveral: boolean },
  given: Wording & { readonly onSave: (id: string) => void; readonly abilities: Abilities },
): void {
  const { words, abilities, onSave } = given;
  const { file, terms, isOfSeveral } = input;
  const [own] = file.media;
  const renditions = savedVersionsOf(file);
  const links: HTMLElement[] = [];
  const makeSaveLink = (...link: Parameters<typeof makeFileLink>): HTMLAnchorElement => {
    const made = makeFileLink(...link);
    made.addEventListener('click', () => onSave(file.id));
    return made;
  };
  if (own !== undefined && terms.allow_download) {
    links.push(
      makeSaveLink(
        own.url,
        'main',
        makeIcon('download'),
        words.say(isOfSeveral ? 'file.download.one' : 'file.download'),
      ),
    );
  }
  const apart = apartUrlOf(file, abilities);
  if (apart !== null)
    links.push(makeFileLink(apart, terms.allow_download ? 'second' : 'main', words.say('file.view')));
  replaceLinks(actions, links);
  versions.hidden = !terms.allow_download || renditions.length === 0;
  replaceLinks(
    versionList,
    renditions.map((rendition) => {
      const link = makeSaveLink(rendition.url, '', nameOfVersion(rendition, given));
      return makeElement('li', {}, link, ` · ${describeKind(rendition.media_type, words)}`);
    }),
  );
}

/** Replaces links by those with fresh URLs. The focus stays at its place. */
function replaceLinks(place: HTMLElement, content: readonly HTMLElement[]): void {
  const at = [...place.querySelectorAll('a')].findIndex((link) => link === document.activeElement);
  place.replaceChildren(...content);
  place.querySelectorAll('a')[at]?.focus();
}

/** Returns the name of a rendition: a word, or the kind that its owner chose. */
function nameOfVersion({ kind, language }: MediaFile, { words, formats }: Wording): string {
  const name = words.sayIfKnown(`version.${kind}`) ?? kind;
  return (language ?? null) === null ? name : `${name} (${formats.languageName(language ?? '')})`;
}

/** A file that is missing opens the storage's error, so the link opens another tab. */
function makeFileLink(url: string, name: string, ...content: readonly (Node | string)[]): HTMLAnchorElement {
  return makeElement(
    'a',
    { href: url, class: name, target: '_blank', rel: 'noopener noreferrer' },
    ...content,
  );
}
