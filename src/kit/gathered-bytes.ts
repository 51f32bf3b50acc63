/** Gathers what a sender sends in pieces. It copies them: a piece of one byte would take 200 for as long as the rest arrives. */
export function makeGatheredBytes() {
  let [held, length] = [Buffer.alloc(0), 0];
  return {
    /** Returns how many bytes there are. */
    add: (piece: Buffer): number => {
      if (length + piece.length <= held.length) piece.copy(held, length);
      else held = Buffer.concat([held.subarray(0, length), piece], 2 * (length + piece.length));
      length += piece.length;
      return length;
    },
    bytes: (): Buffer => held.subarray(0, length),
  };
}
