/** A bounded queue is full, or other writers were faster at every attempt. Nothing was done; the caller may retry. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}
