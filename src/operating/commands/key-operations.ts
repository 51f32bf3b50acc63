import { z } from 'zod';
import { defineOperation, type Operation } from '../socket/operation.js';
import { ringNames } from '../../keys/rings/key-file-format.js';
import type { KeyChange, KeyRotation } from '../../keys/rings/key-rotation.js';
import type { Sealer } from '../../keys/sealing/sealer.js';

const ring = z.enum(ringNames, { error: `must be one of ${ringNames.join(', ')}` });
const kid = z.string();
const nothing = z.strictObject({});
const ofRing = z.strictObject({ ring });
const promotion = z.strictObject({ ring, kid: kid.nullable(), now: z.boolean() });
const retirement = z.strictObject({ ring, kid, force: z.boolean() });
const sweep = z.strictObject({ after: z.string().nullable() });

/** Pages of one part of a sweep, so few that the part ends well within the command line's time limit. */
const pagesAtOnce = 10;

/** Makes the operations that rotate keys (src/keys/README.md#sealing, docs/keys.md#keys-and-their-rotation). */
export function makeKeyOperations({
  keyRotation,
  keysFollowed,
  sealer,
}: {
  readonly keyRotation: KeyRotation;
  /** `follow` notes changed rings with the data; it reports its failures itself. */
  readonly keysFollowed: { readonly follow: () => Promise<void> };
  readonly sealer: Pick<Sealer, 'rewrap'>;
}): readonly Operation[] {
  return [
    defineOperation('keys list', nothing, () => Promise.resolve({ items: keyRotation.list() })),
    defineOperation('keys add', ofRing, (input) => noted(keyRotation.add(input.ring))),
    defineOperation('keys promote', promotion, (input) =>
      noted(keyRotation.promote(input.ring, input.kid, input)),
    ),
    defineOperation('keys retire', retirement, async (input) =>
      noted(await keyRotation.retire(input.ring, input.kid, input)),
    ),
    // One part of the sweep; the command line requests parts until `next` is null.
    defineOperation('keys rewrap', sweep, async ({ after }) => {
      const from = after === null ? {} : { after };
      const { byMasterKey, rewrapped, unreadable, next } = await sealer.rewrap({
        ...from,
        pagesMax: pagesAtOnce,
      });
      return { rewrapped, unreadable, data_keys: Object.fromEntries(byMasterKey), next };
    }),
  ];

  /** A start after a crash must know the keys of the changed ring. */
  async function noted(change: KeyChange): Promise<KeyChange> {
    await keysFollowed.follow();
    return change;
  }
}
