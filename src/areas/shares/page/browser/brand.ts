import { byId } from '../../../../http/pages/browser/elements.js';
import { accentsOf } from './accent.js';
import type { Introduction } from './opening/share-reply.js';
import type { FileKind } from './opening/facts.js';

const svgNamespace = 'http://www.w3.org/2000/svg';

/** The icons of the page's markup, by kind of file. */
const iconsOfKinds: Readonly<Record<FileKind, string>> = {
  ...{ image: 'image', video: 'video', audio: 'audio', archive: 'archive', file: 'file' },
  ...{ pdf: 'document', text: 'document', document: 'document', sheet: 'document', slides: 'document' },
};

/** Makes an icon that the page's markup defines. Screen readers skip it. */
export function makeIcon(name: string): SVGElement {
  const icon = document.createElementNS(svgNamespace, 'svg');
  icon.setAttribute('class', 'icon');
  icon.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(svgNamespace, 'use');
  use.setAttribute('href', `#icon-${name}`);
  icon.append(use);
  return icon;
}

export function makeKindIcon(kind: FileKind): SVGElement {
  return makeIcon(iconsOfKinds[kind]);
}

/** Shows the project of the share: its name, the first letter as a mark, and its colour. */
export function showBrand({ name, accent_color: color }: Introduction['project']): void {
  byId('project', HTMLSpanElement).textContent = name;
  byId('mark', HTMLSpanElement).textContent = firstLetter(name);
  byId('bar', HTMLElement).hidden = false;
  const accents = color === null ? null : accentsOf(color);
  if (accents === null) return;
  // The policy forbids attributes `style`. It allows the script to set properties.
  const { style } = document.documentElement;
  for (const [scheme, { main, text }] of Object.entries(accents)) {
    style.setProperty(`--accent-${scheme}`, main);
    style.setProperty(`--on-accent-${scheme}`, text);
  }
}

/** Returns the first character that a reader sees, in upper case. */
function firstLetter(name: string): string {
  const text = name.trim();
  // Firefox has segmenters since version 125.
  if (!('Segmenter' in Intl)) return Array.from(text)[0]?.toLocaleUpperCase() ?? '';
  const [first] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text);
  return first?.segment.toLocaleUpperCase() ?? '';
}
