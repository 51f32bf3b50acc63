import { type Sealed, sealedSchema } from '../../event-sourcing/ports/domain-event.js';
import { makeDataKeys, type DataKeysDeps } from './data-keys.js';
import { openEnvelope, sealEnvelope } from './envelope.js';
import { DoesNotOpen, KeyDestroyed, KeyMissing } from './errors.js';
import { type KeyScope, scopeParts } from './key-scope.js';

export type { KeyScope, LastingScope } from './key-scope.js';

/** The result of opening a value after its scope's key was destroyed. */
export const erased: unique symbol = Symbol('erased');

/** Seals and opens single values. A sealed value opens only for the scope and field that it was sealed for. */
export type Sealer = ReturnType<typeof makeSealer>;

/** Makes the sealer over the state store that keeps the wrapped data keys. */
export function makeSealer(deps: DataKeysDeps) {
  const { masterKeys, randomBytes } = deps;
  const dataKeys = makeDataKeys(deps);
  return {
    /** The data key is durable before this resolves. @throws KeyDestroyed, KeyMissing, StoreUnavailable, StoreDamaged */
    seal: async (scope: KeyScope, field: string, plaintext: string): Promise<Sealed> => {
      const context = valueContext(scope, field);
      const bytes = Buffer.from(plaintext, 'utf8');
      if (scope.kind === 'reply') {
        const { kid, key } = masterKeys.active();
        return sealedSchema.parse(`v1.${kid}.${sealEnvelope(key, context, bytes, randomBytes)}`);
      }
      const key = await dataKeys.obtain(scope);
      if (key === 'destroyed') throw new KeyDestroyed(`the data key of this ${scope.kind} was destroyed`);
      return sealedSchema.parse(`v1.${sealEnvelope(key, context, bytes, randomBytes)}`);
    },
    /** Opens a sealed value. @throws DoesNotOpen, KeyMissing, StoreUnavailable, StoreDamaged */
    open: async (scope: KeyScope, field: string, sealed: Sealed): Promise<string | typeof erased> => {
      const { masterKid, envelope } = takeApart(sealed);
      const context = valueContext(scope, field);
      if (scope.kind === 'reply') {
        if (masterKid === null) throw new DoesNotOpen();
        const key = masterKeys.find(masterKid);
        if (key === undefined) throw new KeyMissing(`master key ${masterKid} is not in MASTER_KEYS`);
        return openEnvelope(key, context, envelope).toString('utf8');
      }
      if (masterKid !== null) throw new DoesNotOpen();
      const key = await dataKeys.find(scope);
      if (key === 'destroyed') return erased;
      // A destroyed key leaves a marker, so a key without a record is lost, not erased.
      if (key === 'absent') throw new KeyMissing(`the state store has lost the data key of a ${scope.kind}`);
      return openEnvelope(key, context, envelope).toString('utf8');
    },
    /** Destroys the key: here at once, elsewhere within 60 s. Idempotent. @throws StoreUnavailable, StoreDamaged */
    destroy: dataKeys.destroy,
    rewrap: dataKeys.rewrap,
    countByMasterKey: dataKeys.countByMasterKey,
  };
}

function valueContext(scope: KeyScope, field: string): readonly string[] {
  return ['value', field, ...scopeParts(scope)];
}

function takeApart(sealed: string): { readonly masterKid: string | null; readonly envelope: string } {
  const parts = sealed.split('.');
  const [version, second, third] = parts;
  if (version !== 'v1' || second === undefined || parts.length > 3) throw new DoesNotOpen();
  return third === undefined ? { masterKid: null, envelope: second } : { masterKid: second, envelope: third };
}
