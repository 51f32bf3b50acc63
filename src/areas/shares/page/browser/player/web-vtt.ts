/** Returns subtitles as WebVTT: SubRip differs in the head and in the mark of fractions. */
export function webVttOf(text: string): string {
  const plain = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  if (plain.startsWith('WEBVTT')) return plain;
  return `WEBVTT\n\n${plain.replaceAll(/(\d{2}:\d{2}:\d{2}),(\d{3})/g, '$1.$2')}`;
}
