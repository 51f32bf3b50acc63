import { domainToASCII } from 'node:url';
import { invalid } from '../../../../validation/invalid-request.js';
import { isHostName } from '../bucket/host-name.js';

/** Normalises a CDN's host to lower-case ASCII; `''` stays `''`. @throws CommandRejected invalid_request */
export function checkCdnDomain(domain: string, field = 'cdn_domain'): string {
  if (domain === '') return '';
  const host = /[\s/\\:@?#%]/.test(domain) ? '' : domainToASCII(domain);
  if (!isHostName(host) || !host.includes('.')) invalid(field, 'must be a host such as cdn.example.com');
  return host;
}
