/** The users and shares whose password is hashed with a pepper. */
export interface PepperedPasswords {
  readonly users: number;
  readonly shares: number;
  /** A few of these shares, so that the operator can find their owners. */
  readonly someShares: readonly { readonly shareId: string; readonly projectId: string }[];
}

/** The consequence of a missing pepper for the passwords that are hashed with it. */
export const pepperAdvice =
  'a user whose password is hashed with it can sign in only by a mailed code, and choose a new password; a share whose ' +
  'password is hashed with it stays closed until its password is set again';

/** Explains why a pepper is still needed, and what to do; null when no password needs it. */
export function explainNeededPepper(
  kid: string,
  { users, shares, someShares }: PepperedPasswords,
): string | null {
  if (users === 0 && shares === 0) return null;
  const some = someShares.map(({ shareId, projectId }) => `${shareId} of project ${projectId}`);
  const parts = [
    users === 0
      ? []
      : [`the password of ${count(users, 'user')} is hashed with it, until its owner next signs in with it`],
    shares === 0
      ? []
      : [
          `the password of ${count(shares, 'share')} is hashed with it, until it is set again or the share is revoked ` +
            `(${some.join(', ')}${shares > some.length ? ', …' : ''})`,
        ],
  ].flat();
  return `${kid} is still needed: ${parts.join('; ')}. --force retires it all the same: then ${pepperAdvice}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
