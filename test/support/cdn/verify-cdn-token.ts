import { createHash, createVerify } from 'node:crypto';

/** A CDN's configuration of one domain, as its console has it. */
interface CdnSettings {
  readonly scheme: string;
  readonly key?: string;
  readonly publicKey?: string;
  readonly validSeconds: number;
}

/** The parts of a URL that an edge compares. */
interface Presented {
  readonly path: string;
  /** In seconds since 1970. */
  readonly start: number;
  readonly given: string;
  /** The text that the signature is of. */
  readonly signed: string;
}

/**
 * Decides as the edge of a CDN does whether a request is served, from the URL alone. It is written from the providers'
 * pages and shares no code with the signer.
 * @returns the path that the CDN asks its origin for; a text with the reason of a 403
 */
export function askCdn(url: string, now: Date, settings: CdnSettings): { readonly path: string } | string {
  const read = readers[settings.scheme.slice(-1)];
  if (settings.scheme.startsWith('cloudfront') || read === undefined)
    return askCloudFront(url, now, settings);
  const { path, start, given, signed } = read(new URL(url), { key: '', ...settings });
  if (given !== createHash('md5').update(signed).digest('hex')) return 'wrong signature';
  const endsAt = (start + settings.validSeconds) * 1_000;
  return Number.isFinite(endsAt) && endsAt > now.getTime() ? { path } : 'expired';
}

type Keyed = CdnSettings & { readonly key: string };

/** By type. Types A, B and C are alike at both CDNs, but for the name of the parameter. */
const readers: Readonly<Record<string, (url: URL, settings: Keyed) => Presented>> = {
  a: ({ pathname: path, searchParams }, { key, scheme }) => {
    const value = searchParams.get(scheme === 'alibaba_a' ? 'auth_key' : 'sign') ?? '';
    const [time = '', random = '', user = '', given = ''] = value.split('-');
    return { path, start: Number(time), given, signed: [path, time, random, user, key].join('-') };
  },
  b: ({ pathname }, { key }) => {
    const [, time = '', given = '', ...rest] = pathname.split('/');
    const path = `/${rest.join('/')}`;
    // Both CDNs read the time in UTC+8.
    const local = time.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5:00+08:00');
    return { path, start: Date.parse(local) / 1_000, given, signed: `${key}${time}${path}` };
  },
  c: ({ pathname }, { key }) => {
    const [, given = '', time = '', ...rest] = pathname.split('/');
    const path = `/${rest.join('/')}`;
    return { path, start: Number.parseInt(time, 16), given, signed: `${key}${path}${time}` };
  },
  d: ({ pathname: path, searchParams }, { key }) => {
    const [time, given] = [searchParams.get('t') ?? '', searchParams.get('sign') ?? ''];
    return { path, start: Number(time), given, signed: `${key}${path}${time}` };
  },
  f: ({ pathname: path, searchParams }, { key }) => {
    const [time, given] = [searchParams.get('time') ?? '', searchParams.get('sign') ?? ''];
    return { path, start: Number(time), given, signed: key + path + time };
  },
};

function askCloudFront(
  url: string,
  now: Date,
  { scheme, publicKey = '' }: CdnSettings,
): { readonly path: string } | string {
  const { searchParams, pathname: path } = new URL(url);
  const end = Number(searchParams.get('Expires'));
  const algorithm = searchParams.get('Hash-Algorithm') === 'SHA256' ? 'RSA-SHA256' : 'RSA-SHA1';
  if ((algorithm === 'RSA-SHA256') !== (scheme === 'cloudfront_sha256')) return 'another hash';
  const resource = url.split('?')[0] ?? '';
  const policy = `{"Statement":[{"Resource":"${resource}","Condition":{"DateLessThan":{"AWS:EpochTime":${end}}}}]}`;
  const alphabet: Readonly<Record<string, string>> = { '-': '+', _: '=', '~': '/' };
  const signature = (searchParams.get('Signature') ?? '').replace(/[-_~]/g, (one) => alphabet[one] ?? one);
  if (!createVerify(algorithm).update(policy).verify(publicKey, signature, 'base64'))
    return 'wrong signature';
  return end * 1_000 > now.getTime() ? { path } : 'expired';
}
