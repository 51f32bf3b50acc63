import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { isPlainAddress, parseMailbox } from '../mail/mailer.js';
import { parseProbeTarget, probeTargetForms } from '../areas/nodes/prober.js';
import { isProxyRange } from '../security/rates/client-ip.js';

export const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port number, at most 65535');

/** An address or a name to listen on, which is also the host of the default `PUBLIC_URL`. */
export const host = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || (/^[^\s:/?#@\\]+$/.test(text) && URL.canParse(`http://${text}:1`)),
    'must be an address or a name of this machine without a port, for example 127.0.0.1',
  );

/** Text that is taken as it stands. A file of variables with the line ends of Windows leaves a carriage return at its end. */
export const plainText = z
  .string()
  .refine((text) => text === text.trim(), 'must have no white space or end of a line around it');

/** A path, relative to the working directory of the start. */
export const absolutePath = plainText.transform((path) => resolve(path));

export const textList = z.string().transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''));

/** A whole number between two bounds. */
export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }) {
  const problem = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, problem)
    .transform(Number)
    .refine((value) => value >= min && value <= max, problem);
}

/** A time limit, at most a day. */
export const milliseconds = wholeNumber({ min: 1, max: 86_400_000 });

/** One to three times in milliseconds, separated by commas. */
export const millisecondList = textList.pipe(z.array(milliseconds).min(1).max(3));

export const cidrList = textList.refine(
  (items) => items.every((item) => ipaddr.isValidCIDR(item)),
  'must be a list of CIDR ranges, for example 10.0.0.0/8, separated by commas',
);

export const proxyList = textList.refine(
  (items) => items.every(isProxyRange),
  'must be a list of addresses and CIDR ranges, for example 192.0.2.1 or 10.0.0.0/8, separated by commas',
);

export const origin = z
  .string()
  .refine(isOrigin, 'must be an http or https origin, for example https://api.example.org');

/** Origins that the service sends a preflight for, so their number bounds a storage test. */
const originsMax = 10;

export const originList = textList.refine(
  (items) => items.length <= originsMax && items.every(isOrigin),
  `must be a list of at most ${originsMax} http or https origins, for example https://app.example.org, separated by commas`,
);

export const shareUrlTemplate = z
  .string()
  .refine(
    isShareUrlTemplate,
    'must be an http or https URL that names {token} once, after its host, for example https://media.example.org/s/{token}',
  );

export const probeTarget = z.string().transform((text, context) => {
  const target = parseProbeTarget(text);
  if (target !== null) return target;
  context.addIssue(probeTargetForms);
  return z.NEVER;
});

export const mailbox = z.string().transform((text, context) => {
  const parsed = parseMailbox(text);
  if (parsed !== null) return parsed;
  context.addIssue('must be an address, alone or as in: Name <name@example.org>');
  return z.NEVER;
});

/** One to ten plain addresses, separated by commas. The message quotes none of them. */
export const addressList = z.string().transform((text, context) => {
  const addresses = text.split(',').map((address) => address.trim());
  if (
    addresses.length <= 10 &&
    addresses.every(isPlainAddress) &&
    new Set(addresses).size === addresses.length
  ) {
    return addresses.map((address) => ({ name: '', address }));
  }
  context.addIssue('must be one to ten different addresses, separated by commas, such as ops@example.org');
  return z.NEVER;
});

function isShareUrlTemplate(text: string): boolean {
  if (text.split('{token}').length !== 2) return false;
  const [one, other] = ['a', 'b'].map((token) => text.replace('{token}', token));
  if (one === undefined || other === undefined || !URL.canParse(one) || !URL.canParse(other)) return false;
  const { protocol, host, username } = new URL(one);
  // DNS queries are unencrypted, so a token in the host would leak.
  return /^https?:$/.test(protocol) && host === new URL(other).host && username === '';
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const bare =
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  return (url.protocol === 'http:' || url.protocol === 'https:') && bare;
}
