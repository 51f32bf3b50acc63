import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../../../src/kit/time/clock.js';
import type { TcpProxy } from './proxies.js';

/** A fault of one server: it begins, and resolves when it is over. */
export type FaultRow = (proxy: TcpProxy, random: Random) => Promise<void>;

/** The faults of the findings, by what a title says of the server. */
export const faultRows: Readonly<Record<string, FaultRow>> = {
  'is killed and back after 5 s': async (proxy) => {
    proxy.refusing = true;
    proxy.reset();
    await wait(5_000);
    proxy.refusing = false;
  },
  'is frozen for 5 s': freezeFor(5_000),
  'is frozen for 20 s': freezeFor(20_000),
  'is frozen for 60 s': freezeFor(60_000),
  'loses its connections twice a second for 5 s': async (proxy) => {
    for (let times = 0; times < 10; times += 1) {
      proxy.cut();
      await wait(500);
    }
  },
  'loses each tenth reply for 10 s': sometimes('lose-reply', 0.1),
  'holds back each twentieth reply for 10 s': sometimes('hold-reply', 0.05),
  'is 50 ms away for 10 s': delayedBy(50),
  'is 200 ms away for 10 s': delayedBy(200),
  // The delay holds in each direction.
  'answers each call after 3 s for 10 s': delayedBy(1_500),
  'passes 30 kB a second for 10 s': async (proxy) => {
    proxy.bytesPerSecond = 30_000;
    await wait(10_000);
    proxy.bytesPerSecond = 0;
  },
};

function freezeFor(ms: number): FaultRow {
  return async (proxy) => {
    proxy.freeze();
    await wait(ms);
    proxy.thaw();
  };
}

function delayedBy(ms: number): FaultRow {
  return async (proxy) => {
    proxy.delayMs = ms;
    await wait(10_000);
    proxy.delayMs = 0;
  };
}

function sometimes(fate: 'lose-reply' | 'hold-reply', chance: number): FaultRow {
  return async (proxy, random) => {
    proxy.decide = () => (random() < chance ? fate : 'pass');
    await wait(10_000);
    proxy.decide = () => 'pass';
    // A held connection never answers again, as after a fault of the network between.
    proxy.reset();
  };
}
