import { decideBy, defineAggregate } from '../../../../event-sourcing/deciding/command-handler.js';
import { type NodeDescription, type NodeEvent, type NodeMode, nodeEvents } from './events.js';
import {
  type KnownHealth,
  type NodeCheck,
  type NodeCondition,
  conditionAfter,
  newCondition,
} from './fold.js';
import { TargetNotFound } from '../../../../event-sourcing/ports/errors.js';
import ipaddr from 'ipaddr.js';
import { invalid } from '../../../../validation/field-problems.js';
import { checkName, isPrintable } from '../../../../validation/text.js';

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
  if (Array.from(text).length > max || !isPrintable(text.replaceAll('\n', '')))
    invalid(field, `must be at most ${max} characters, none of them a control character`);
  return text;
}

export type NodeRejection = 'node_not_found';

export interface RegisteredNode extends NodeCondition, KnownHealth {
  readonly status: 'registered';
  readonly description: NodeDescription;
}

type NodeState = { readonly status: 'absent' } | RegisteredNode | { readonly status: 'removed' };

type NodeCommand =
  | { readonly type: 'Register'; readonly description: NodeDescription }
  | {
      readonly type: 'Change';
      readonly changes: Partial<NodeDescription>;
      readonly mode?: NodeMode | undefined;
    }
  /** The status of the record `node-check/<node id>`. */
  | { readonly type: 'FollowCheck'; readonly check: NodeCheck }
  | { readonly type: 'Remove' };

const initialState: NodeState = { status: 'absent' };

function evolve(state: NodeState, event: NodeEvent): NodeState {
  if (event.type === 'NodeRemoved') return { status: 'removed' };
  if (event.type === 'NodeRegistered')
    return { status: 'registered', description: event.data, ...newCondition, sequence: 0 };
  // The codec does not check the order of events, and no version has written another one.
  if (state.status !== 'registered') return state;
  const condition = conditionAfter(state, event);
  switch (event.type) {
    case 'NodeChanged':
      return { ...state, description: event.data };
    case 'NodeStatusChanged':
      return { ...state, ...condition, sequence: event.data.sequence };
    case 'NodeModeChanged':
      return { ...state, ...condition };
  }
}

const decide = decideBy<NodeCommand, NodeState, NodeEvent>({
  Register: (command, state) => {
    // The id derives from the command, so an earlier attempt made the existing node.
    return state.status === 'absent' ? [{ type: 'NodeRegistered', data: command.description }] : [];
  },
  Change: (command, state) => change(command, requireNode(state)),
  FollowCheck: (command, state) => follow(command.check, requireNode(state)),
  Remove: (_, state) => {
    if (state.status === 'removed') return [];
    requireNode(state);
    return [{ type: 'NodeRemoved', data: {} }];
  },
});

/** @throws CommandRejected node_not_found */
export function requireNode(state: NodeState): RegisteredNode {
  if (state.status === 'registered') return state;
  throw new TargetNotFound<NodeRejection>('node_not_found', 'there is no such node');
}

function change(
  { changes, mode }: Extract<NodeCommand, { readonly type: 'Change' }>,
  state: RegisteredNode,
): readonly NodeEvent[] {
  const before: NodeDescription = state.description;
  const after = { ...before, ...changes };
  const fields = Object.keys(after) as (keyof NodeDescription)[];
  const isSame = fields.every((field) => after[field] === before[field]);
  return [
    ...(isSame ? [] : [{ type: 'NodeChanged', data: after } as const]),
    ...(mode === undefined || mode === state.mode
      ? []
      : [{ type: 'NodeModeChanged', data: { mode } } as const]),
  ];
}

/** Two processes may arrive in either order, so a sequence that is not above the last one changes nothing. */
export function isBehind(state: RegisteredNode, { status, sequence }: NodeCheck): boolean {
  return sequence > state.sequence && status !== state.health;
}

function follow(check: NodeCheck, state: RegisteredNode): readonly NodeEvent[] {
  if (!isBehind(state, check)) return [];
  const { status, failures, successes, last_checked_at, sequence } = check;
  return [
    {
      type: 'NodeStatusChanged',
      data: {
        status,
        consecutive_failures: failures,
        consecutive_successes: successes,
        ...{ last_checked_at, sequence },
        // No result leads back to unknown.
        because: status === 'unknown' ? 'silence' : 'check',
      },
    },
  ];
}

export const nodeAggregate = defineAggregate(nodeEvents, { initialState, decide, evolve });
