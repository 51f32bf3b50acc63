/** Who has a password that is hashed with a pepper. */
export interface PepperedPasswords {
  readonly users: number;
  readonly shares: number;
  /** A few of these shares, for whoever has to find the people. */
  readonly someShares: readonly { readonly shareId: string; readonly projectId: string }[];
}

/** What a password that is hashed with a pepper comes to without it. */
export const pepperAdvice =
  'a user whose password is hashed with it can sign in only by a mailed code, and choose a new password; a share whose ' +
  'password is hashed with it stays shut until somebody sets that again';

/** Why a pepper cannot go yet, and what to do; null when no password needs it. */
export function explainNeededPepper(
  kid: string,
  { users, shares, someShares }: PepperedPasswords,
): string | null {
  if (users === 0 && shares === 0) return null;
  const some = someShares.map(({ shareId, projectId }) => `${shareId} of project ${projectId}`);
  const parts = [
    users === 0
      ? []
      : [
          `the password of ${count(users, 'user')} is hashed with it, and is hashed anew when its owner next signs in with it`,
        ],
    shares === 0
      ? []
      : [
          `the password of ${count(shares, 'share')} is hashed with it, until somebody sets it again or revokes the share ` +
            `(${some.join(', ')}${shares > some.length ? ', …' : ''})`,
        ],
  ].flat();
  return `${kid} is still needed: ${parts.join('; ')}. --force retires it all the same: then ${pepperAdvice}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
