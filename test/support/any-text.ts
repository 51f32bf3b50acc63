import fc from 'fast-check';

const surrogatesFrom = 0xd800;
const surrogates = 0x800;

/** Any code point that is a character by itself, by its place among them. */
const anyCharacter = fc.nat(0x10ffff - surrogates).map(
  (index) => String.fromCodePoint(index < surrogatesFrom ? index : index + surrogates),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new TypeError('not one character');
    return code < surrogatesFrom ? code : code - surrogates;
  },
);

/**
 * Strings of any characters, with those that JavaScript treats specially (`__proto__`) among them. It is what fast-check makes of the
 * unit `binary`, without the table of all 1.1 million characters that this takes a second of CPU for in each process.
 */
export function anyText(lengths: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...lengths, unit: anyCharacter });
}
