/** The bounds of mailed codes, which sign in or confirm a new address (src/areas/accounts/commands/README.md#email-codes). */
export const mailedCode = {
  lifeSeconds: 600,
  /** Attempts per code. */
  attemptsMax: 5,
  /** Codes per address (sign-in) or per account (change of address). */
  codesPerMinute: 1,
  codesPerHour: 6,
  /** After which the client may ask for another one. */
  resendSeconds: 60,
} as const;

/** The bounds of codes of 100 bits, which sign in while wrong codes are typed (src/areas/accounts/commands/README.md#login-codes). No failure ends one. */
export const strongCode = { lifeSeconds: 3_600 } as const;

/** The limits on mailed codes, each with its window. */
export const mailedCodeLimits = [
  { limit: mailedCode.codesPerMinute, withinMs: 60_000 },
  { limit: mailedCode.codesPerHour, withinMs: 3_600_000 },
] as const;

/** Clocks of stores and processes differ by less. */
const aheadMsMax = 5_000;

/** Returns the times that count. Those ahead are of a clock that was put back since, and would hold codes back until they have passed. */
export function countedCodes(askedAt: readonly Date[], now: Date): readonly Date[] {
  return askedAt.filter((time) => time.getTime() - now.getTime() <= aheadMsMax);
}

/** Returns when another code may be mailed; null: now. @param askedAt the times of the last codes, oldest first */
export function nextMailedCodeAt(askedAt: readonly Date[], now: Date): Date | null {
  const counted = countedCodes(askedAt, now);
  const ends = mailedCodeLimits.flatMap(({ limit, withinMs }) => {
    const first = counted.at(-limit);
    return first === undefined ? [] : [first.getTime() + withinMs];
  });
  const nextMs = Math.max(...ends, 0);
  return nextMs <= now.getTime() ? null : new Date(nextMs);
}
