import { isRecent } from '../../../../kit/time/clock.js';
import type { KeyObject } from 'node:crypto';
import Bottleneck from 'bottleneck';
import { makeLru } from '../../../../kit/lru.js';
import { OutgoingError, type OutgoingHttp } from '../../../../outgoing/outgoing-http.js';
import { type Certificate, isValidAt, parseCertificate } from '../keys/certificates.js';
import { KeyDirectoryProblem, makeKeyDirectory } from '../keys/key-directory.js';

export type PayPalEnvironment = 'live' | 'sandbox';

/** Finds the keys that may have signed, by the certificate address in a callback, which is not verified yet. */
export type PayPalCertificates = (url: string, now: Date) => Promise<FoundCertificates>;

export type FoundCertificates =
  | { readonly kind: 'found'; readonly keys: readonly KeyObject[] }
  /** PayPal has no certificate at this address. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable'; readonly problem: string };

const unknown: FoundCertificates = { kind: 'unknown' };

/** The permitted addresses, letter by letter. Parsers of URLs can disagree about the host, so none decides here. */
const addresses: Readonly<Record<PayPalEnvironment, RegExp>> = {
  live: /^https:\/\/api(?:-m)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[A-Za-z0-9-]{1,100}$/,
  sandbox: /^https:\/\/api(?:-m)?\.sandbox\.paypal\.com\/v1\/notifications\/certs\/CERT-[A-Za-z0-9-]{1,100}$/,
};

/** Returns whether PayPal signs with the certificate. In live, it refuses certificates of the sandbox. */
function isForSigning({ commonName }: Certificate, environment: PayPalEnvironment): boolean {
  if (commonName === null || !/^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.paypal\.com$/.test(commonName)) return false;
  return environment === 'sandbox' || !commonName.endsWith('.sandbox.paypal.com');
}

/** Reads certificates of `PAYMENT_PAYPAL_CERTIFICATES_DIR`, for networks without fetch. @throws KeyDirectoryProblem */
export function makePinnedCertificates(deps: {
  readonly path: string;
  readonly environment: PayPalEnvironment;
  readonly report: (problem: string) => void;
}): PayPalCertificates {
  const { path, environment, report } = deps;
  const directory = makeKeyDirectory({ path, parse, report });
  return (_url, now) =>
    Promise.resolve({
      kind: 'found',
      keys: directory(now)
        .filter((certificate) => isValidAt(certificate, now))
        .map(({ key }) => key),
    });

  function parse(files: readonly { readonly name: string; readonly text: string }[]): readonly Certificate[] {
    if (files.length === 0) throw new KeyDirectoryProblem('there is no certificate of PayPal’s (.pem)');
    return files.map(({ name, text }) => {
      const certificate = parseCertificate(text);
      if (certificate === null || !isForSigning(certificate, environment)) {
        throw new KeyDirectoryProblem(
          `${name}.pem is no certificate that PayPal signs with (${environment})`,
        );
      }
      return certificate;
    });
  }
}

const keptMs = 24 * 3_600_000;
const notKeptMs = 600_000;
const keptMax = 16;
const unknownMax = 1_000;

type Known = { readonly certificate: Certificate; readonly fetchedAt: number };

/**
 * Fetches certificates by address and caches them for a day. The addresses come from unverified callbacks. It therefore
 * fetches only from PayPal, one request a second and once per address at a time; at most four wait. It caches an
 * unknown address for 10 minutes. Beyond the queue the result is `unavailable`, and PayPal repeats its callback.
 */
export function makeFetchedCertificates(deps: {
  readonly environment: PayPalEnvironment;
  readonly http: OutgoingHttp;
  readonly paceMs?: number;
}): PayPalCertificates {
  const { environment, http, paceMs = 1_000 } = deps;
  const known = makeLru<Known>(keptMax);
  const unknownSince = makeLru<number>(unknownMax);
  const underWay = new Map<string, Promise<FoundCertificates>>();
  const limiter = new Bottleneck({
    maxConcurrent: 2,
    minTime: paceMs,
    highWater: 4,
    strategy: Bottleneck.strategy.OVERFLOW,
  });
  return (url, now) => {
    if (!addresses[environment].test(url)) return Promise.resolve(unknown);
    const cached = known.get(url);
    if (cached !== undefined && isRecent(cached.fetchedAt, keptMs, now))
      return Promise.resolve(judge(cached, now));
    if (isRecent(unknownSince.get(url) ?? -Infinity, notKeptMs, now)) return Promise.resolve(unknown);
    const running = underWay.get(url) ?? fetchOnce(url, now);
    underWay.set(url, running);
    return running;
  };

  async function fetchOnce(url: string, now: Date): Promise<FoundCertificates> {
    try {
      const found = await ask(url, now);
      const cached = known.get(url);
      // A stale certificate is as good as a fresh one, because it contains its period of validity.
      return found.kind === 'unavailable' && cached !== undefined ? judge(cached, now) : found;
    } finally {
      underWay.delete(url);
    }
  }

  async function ask(url: string, now: Date): Promise<FoundCertificates> {
    try {
      const { status, body } = await limiter.schedule(() => http({ method: 'GET', url }));
      return learn(url, now, { status, pem: body.toString('latin1') });
    } catch (error) {
      if (error instanceof OutgoingError) return unavailable(error.message);
      if (error instanceof Bottleneck.BottleneckError) return unavailable('too many requests wait');
      throw error;
    }
  }

  function learn(
    url: string,
    now: Date,
    { status, pem }: { readonly status: number; readonly pem: string },
  ): FoundCertificates {
    const certificate = status === 200 ? parseCertificate(pem) : null;
    if (certificate !== null && isForSigning(certificate, environment)) {
      const fetched = { certificate, fetchedAt: now.getTime() };
      known.set(url, fetched);
      return judge(fetched, now);
    }
    if (status !== 200 && status !== 404 && status !== 410) return unavailable(`PayPal answered ${status}`);
    known.delete(url);
    unknownSince.set(url, now.getTime());
    return unknown;
  }
}

function judge({ certificate }: Known, now: Date): FoundCertificates {
  return isValidAt(certificate, now) ? { kind: 'found', keys: [certificate.key] } : unknown;
}

function unavailable(reason: string): FoundCertificates {
  return { kind: 'unavailable', problem: `a certificate of PayPal’s cannot be fetched: ${reason}` };
}
