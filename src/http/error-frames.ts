const framesMax = 12;

/** The places that an error came through, nearest first, without anything of its message; none where the two cannot be told apart. */
export function framesOf({ stack = '', message }: Error): readonly string[] {
  // A message of several lines may hold some that look like places.
  const start = stack.indexOf(message);
  if (start === -1) return [];
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}
