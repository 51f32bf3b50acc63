import { z } from 'zod';
import { noFields, noQuery } from '../../http/route-spec.js';
import type { Route } from '../../http/route.js';
import { ringNames } from '../../keys/rings/key-file-format.js';
import type { KeyChange, KeyRotation } from '../../keys/rings/key-rotation.js';
import type { Sealer } from '../../keys/sealing/sealer.js';
import { changing, reading } from './operator-route.js';

const ring = z.enum(ringNames, { error: `must be one of ${ringNames.join(', ')}` });
const kid = z.string();
const ofRing = z.strictObject({ ring });
const promotion = z.strictObject({ ring, kid: kid.optional(), now: z.boolean() });
const retirement = z.strictObject({ ring, kid, force: z.boolean() });

/** Makes the routes that rotate keys (src/keys/README.md#sealing, docs/keys.md#keys-and-their-rotation). */
export function makeKeyOperations({
  keyRotation,
  keysFollowed,
  sealer,
}: {
  readonly keyRotation: KeyRotation;
  /** `follow` notes changed rings with the data; it reports its failures itself. */
  readonly keysFollowed: { readonly follow: () => Promise<void> };
  readonly sealer: Pick<Sealer, 'rewrap'>;
}): readonly Route[] {
  return [
    reading('keys list', noQuery, () => ({ items: keyRotation.list() })),
    changing('keys add', ofRing, (input) => noted(keyRotation.add(input.ring))),
    changing('keys promote', promotion, (input) =>
      noted(keyRotation.promote(input.ring, input.kid ?? null, input)),
    ),
    changing('keys retire', retirement, async (input) =>
      noted(await keyRotation.retire(input.ring, input.kid, input)),
    ),
    changing('keys rewrap', noFields, async () => {
      const { byMasterKey, rewrapped, unreadable } = await sealer.rewrap();
      return { rewrapped, unreadable, data_keys: Object.fromEntries(byMasterKey) };
    }),
  ];

  /** A start after a crash must know the keys of the changed ring. */
  async function noted(change: KeyChange): Promise<KeyChange> {
    await keysFollowed.follow();
    return change;
  }
}
