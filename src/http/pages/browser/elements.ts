/** Returns an element of the page. @throws Error when the page has none of this kind: the markup and the script differ */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} with the id ${id}`);
  return found;
}

/** Makes an element. Texts of the service become text nodes only, so that no text is ever markup. */
export function makeElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Makes a link within the page. */
export function makeLink(fragment: string, text: string): HTMLAnchorElement {
  return makeElement('a', { href: fragment }, text);
}

/** Makes a block that shows its text when it is unfolded for the first time. */
export function makeUnfolding(summary: string, text: () => string): HTMLDetailsElement {
  const pre = makeElement('pre', { tabindex: '0' });
  const details = makeElement('details', {}, makeElement('summary', {}, summary), pre);
  details.addEventListener('toggle', () => {
    if (details.open && pre.textContent === '') pre.textContent = text();
  });
  return details;
}

/** The texts that wait, by their region. */
const waitingTexts = new WeakMap<HTMLElement, number>();

/** Writes the text of a live region. It is emptied first, so that screen readers announce the same words again. */
export function announce(region: HTMLElement, text: string): void {
  clearTimeout(waitingTexts.get(region));
  region.textContent = '';
  if (text === '') return;
  const write = (): void => {
    region.textContent = text;
  };
  waitingTexts.set(region, setTimeout(write, 50));
}
