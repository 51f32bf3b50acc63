import { domainToASCII } from 'node:url';

export interface EmailAddress {
  /** The address as the caller gave it, trimmed, in NFC. */
  readonly address: string;
  /** Lower case, with the domain in ASCII form: equal for addresses that count as one. */
  readonly canonical: string;
  readonly localPart: string;
}

/** Of a text before it is read. Without it, the normal form of a text of many marks would take the square of its length. */
export const addressTextMax = 320;
/** RFC 5321, section 4.5.3.1, in octets. A path has 256 with its angle brackets (RFC 3696, erratum 1690). */
const addressBytesMax = 254;
const localPartBytesMax = 64;
const domainLengthMax = 253;

/** Dot-string of RFC 5321 with the letters and digits of all scripts (RFC 6531). No quoted strings, no comments. */
const localPartPattern =
  /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainPattern = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+$/u;
const asciiLabelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Parses an address; null unless mail can reach it: a host name of at least two labels, no address literal. */
export function parseEmailAddress(text: string): EmailAddress | null {
  if (text.length > addressTextMax) return null;
  const address = text.trim().normalize('NFC');
  const at = address.lastIndexOf('@');
  if (at <= 0 || Buffer.byteLength(address) > addressBytesMax) return null;
  const localPart = address.slice(0, at);
  if (!localPartPattern.test(localPart) || Buffer.byteLength(localPart) > localPartBytesMax) return null;
  const domain = canonicalDomain(address.slice(at + 1));
  if (domain === null) return null;
  return { address, localPart, canonical: `${canonicalLocalPart(localPart)}@${domain}` };
}

/** Look-alikes stay: they name other mailboxes. Both lower-case sigmas count as one. Lower-casing can break NFC. */
function canonicalLocalPart(localPart: string): string {
  return localPart.toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

function canonicalDomain(domain: string): string | null {
  if (!domainPattern.test(domain)) return null;
  const ascii = domainToASCII(domain).toLowerCase();
  const labels = ascii.split('.');
  const [top = ''] = labels.slice(-1);
  // A host with a numeric last label is an IPv4 address (WHATWG URL, host parsing).
  if (ascii.length > domainLengthMax || labels.length < 2 || /^[0-9]+$/.test(top)) return null;
  return labels.every((label) => asciiLabelPattern.test(label)) ? ascii : null;
}
