import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';
import type { Digests } from '../../keys/sealing/digests.js';
import { ipBuckets } from '../rates/client-ip.js';

/** An account, by the digest of its address, and a client of it. */
export interface NetworkOf {
  readonly emailDigest: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

/**
 * Remembers the networks from which an account was signed in to: an IPv4 address or an IPv6 /64, as a keyed digest, for
 * 90 days (docs/design.md#known-networks). An address without an account costs the same calls.
 */
export interface KnownNetworks {
  /** @returns `network`: the digest of the client's network, which two accounts do not share. @throws StoreUnavailable */
  requesterOf(of: NetworkOf): Promise<{ readonly requester: 'known' | 'unknown'; readonly network: string }>;
  /** Call it after a complete sign-in. It writes at most once a day. It reports that the store is away. */
  remember(of: NetworkOf): Promise<void>;
  /** Forgets all other networks too, when the other sessions end. It reports that the store is away. */
  rememberOnly(of: NetworkOf): Promise<void>;
  /** Forgets all networks. @throws StoreUnavailable */
  forget(emailDigest: string): Promise<void>;
}

/** The networks of an account; a further one takes the place of the one that was unused for the longest time. */
export const knownNetworksMax = 16;
export const knownNetworkMs = 90 * 86_400_000;

/** A network that was remembered within this time is not written again. */
const renewAfterMs = 86_400_000;
const tries = 20;

/** The storage format: the time of the last sign-in by the network's digest. */
const recordSchema = z.strictObject({ networks: z.record(z.string(), z.iso.datetime()) });
type Networks = z.output<typeof recordSchema>['networks'];

export function makeKnownNetworks({
  stateStore,
  digests,
  clock,
  onFailure,
}: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly digests: Pick<Digests, 'of'>;
  readonly clock: Clock;
  readonly onFailure: (what: string, error: unknown) => void;
}): KnownNetworks {
  const keyOf = (emailDigest: string) => `known/${digests.of('known', emailDigest)}`;

  function networkOf({ emailDigest, clientIp }: NetworkOf): string {
    const client = ipBuckets(clientIp)[0]?.key ?? clientIp;
    return digests.of('known-network', JSON.stringify([emailDigest, client]));
  }

  async function change(
    emailDigest: string,
    decide: (networks: Networks, nowMs: number) => Networks | null,
  ): Promise<void> {
    // When other sign-ins were faster 20 times, the next one remembers the network.
    await changeRecord(
      stateStore,
      { key: keyOf(emailDigest), schema: recordSchema },
      (found) => {
        const nowMs = clock.now().getTime();
        const next = decide(living(found?.value.networks ?? {}, nowMs), nowMs);
        if (next === null) return { keep: null };
        const times = Object.values(next).map((at) => Date.parse(at));
        if (times.length === 0) return found === null ? { keep: null } : { write: null, result: null };
        const expiresAt = new Date(Math.max(...times) + knownNetworkMs);
        return { write: { networks: next }, expiresAt, result: null };
      },
      { tries, unknownOutcome: 'retry' },
    );
  }

  return {
    requesterOf: async (of) => {
      const network = networkOf(of);
      const record = await stateStore.get(keyOf(of.emailDigest));
      const networks = record === null ? {} : recordSchema.parse(record.value).networks;
      const isKnown = Object.hasOwn(living(networks, clock.now().getTime()), network);
      return { requester: isKnown ? 'known' : 'unknown', network };
    },
    remember: (of) => {
      const network = networkOf(of);
      return reported(
        change(of.emailDigest, (networks, nowMs) => {
          const at = networks[network];
          if (at !== undefined && nowMs - Date.parse(at) < renewAfterMs) return null;
          return newest({ ...networks, [network]: new Date(nowMs).toISOString() });
        }),
      );
    },
    rememberOnly: (of) => {
      const network = networkOf(of);
      return reported(change(of.emailDigest, (_, nowMs) => ({ [network]: new Date(nowMs).toISOString() })));
    },
    forget: (emailDigest) => change(emailDigest, () => ({})),
  };

  /** The sign-in has succeeded, so it does not fail without its record. The next one writes it. */
  async function reported(changed: Promise<void>): Promise<void> {
    await changed.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      onFailure('the network of a sign-in was not remembered', error);
    });
  }
}

function living(networks: Networks, nowMs: number): Networks {
  return Object.fromEntries(
    Object.entries(networks).filter(([, at]) => nowMs - Date.parse(at) < knownNetworkMs),
  );
}

function newest(networks: Networks): Networks {
  const byTime = Object.entries(networks).toSorted(([, one], [, other]) => other.localeCompare(one));
  return Object.fromEntries(byTime.slice(0, knownNetworksMax));
}
