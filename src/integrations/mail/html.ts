const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML shows it, in elements and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** HTML whose values are escaped. */
export function html(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((page, part, index) => page + escapeHtml(values[index - 1] ?? '') + part);
}
