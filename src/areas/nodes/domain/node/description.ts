import ipaddr from 'ipaddr.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { checkName, isPrintable } from '../../../../validation/text.js';
import type { NodeDescription } from './events.js';

/** An operator's input. The version of the address follows from the address. */
export type NodeInput = Omit<NodeDescription, 'ip_version'>;

const noteLengthMax = 1_000;
const recordIdLengthMax = 255;

/** Normalises and checks the texts of a node's description; schemas judge its numbers. @throws CommandRejected invalid_request, naming the field */
export function checkDescription(input: NodeInput): NodeDescription {
  return {
    ...input,
    name: checkName(input.name),
    ...checkAddress(input.ip_address),
    dnsprovider_record_id: checkPrintable(
      'dnsprovider_record_id',
      input.dnsprovider_record_id,
      recordIdLengthMax,
    ),
    note: checkPrintable('note', input.note, noteLengthMax),
  };
}

/** Returns the canonical spelling, so that addresses compare as text. An IPv4-mapped IPv6 address becomes IPv4. */
function checkAddress(text: string): Pick<NodeDescription, 'ip_address' | 'ip_version'> {
  const valid =
    ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
  if (!valid) invalid('ip_address', 'must be an IPv4 or IPv6 address');
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv4
    ? { ip_address: address.toString(), ip_version: 4 }
    : { ip_address: address.toRFC5952String(), ip_version: 6 };
}

function checkPrintable(field: string, text: string, max: number): string {
  if (text.length > max || !isPrintable(text.replaceAll('\n', ''))) {
    invalid(field, `must be at most ${max} characters, none of them a control character`);
  }
  return text;
}
