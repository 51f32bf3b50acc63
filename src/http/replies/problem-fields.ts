import { type FieldProblem, listedProblemsMax } from '../../validation/field-problems.js';

/** Proxies and clients bound headers; 8 KiB for all of them together is common. */
const bytesMax = 2_048;

/**
 * Makes the value of `Problem-Fields`: a list of strings with a parameter `code` (RFC 9651, section 3.1), such as
 * `"name";code=missing, "endpoint";code=format`. Names beyond ASCII are display strings (section 3.3.8). It has at most 20 members and
 * 2,048 bytes.
 */
export function problemFields(problems: readonly FieldProblem[]): string {
  const members: string[] = [];
  let bytes = 0;
  for (const { field, code } of problems.slice(0, listedProblemsMax)) {
    const member = `${stringItem(field)};code=${code}`;
    bytes += member.length + 2;
    if (bytes > bytesMax) break;
    members.push(member);
  }
  return members.join(', ');
}

function stringItem(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const encoded = [...Buffer.from(text)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x25
      ? `%${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  );
  return `%"${encoded.join('')}"`;
}
