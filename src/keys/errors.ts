/** Keys are missing, malformed or kept unsafely. The message says what to do and never contains a key. */
export class KeyProblem extends Error {
  override readonly name = 'KeyProblem';
}

/** A key that something was made with is not there. Not an erasure: putting the key back cures it. */
export class KeyMissing extends Error {
  override readonly name = 'KeyMissing';
}

/** The scope's data key was destroyed: nothing can be sealed for it ever again. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed';
}

/** A sealed value was changed, moved to another place, or made with another key. */
export class DoesNotOpen extends Error {
  override readonly name = 'DoesNotOpen';
  constructor() {
    super('a sealed value does not open: it was changed, moved to another place, or sealed with another key');
  }
}
