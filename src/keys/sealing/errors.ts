/** Keys are missing, malformed or stored unsafely. The message says what to do and never contains a key. */
export class KeyProblem extends Error {
  override readonly name = 'KeyProblem';
}

/** A key that sealed or signed a value is missing. This is no erasure: the operator can put the key back. */
export class KeyMissing extends Error {
  override readonly name = 'KeyMissing';
}

/** The scope's data key was destroyed. The service never seals for this scope again. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed';
}

/** A sealed value was changed, moved to another context, or sealed with another key. */
export class DoesNotOpen extends Error {
  override readonly name = 'DoesNotOpen';
  constructor() {
    super('a sealed value does not open: it was changed, moved to another place, or sealed with another key');
  }
}
