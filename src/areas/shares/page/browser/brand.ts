import { byId } from '../../../../http/pages/browser/elements.js';
import { accentsOf } from './accent.js';
import type { Introduction } from './opening/share-reply.js';

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
  const [first] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name.trim());
  return first?.segment.toLocaleUpperCase() ?? '';
}
