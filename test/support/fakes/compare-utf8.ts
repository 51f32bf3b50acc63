/** Characters whose order in UTF-16 differs from that in UTF-8, and those between them. */
const surrogatesOrLater = /[\ud800-\uffff]/;

/** Compares texts by their UTF-8 bytes. Few texts need the bytes, which cost much more than a comparison of texts. */
export function compareUtf8(a: string, b: string): number {
  if (surrogatesOrLater.test(a) || surrogatesOrLater.test(b)) {
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  return a === b ? 0 : a < b ? -1 : 1;
}
