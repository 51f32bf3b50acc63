const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

export function html(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((page, part, index) => page + escapeHtml(values[index - 1] ?? '') + part);
}
