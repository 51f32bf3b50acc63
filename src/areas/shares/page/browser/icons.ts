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
