const framesMax = 12;

/** Returns the stack frames, nearest first; none if it cannot separate them from the message. */
export function framesOf({ stack = '', message }: Error): readonly string[] {
  // Lines of a message may look like frames.
  const start = stack.indexOf(message);
  if (start === -1) return [];
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}
