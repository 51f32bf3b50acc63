import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { performUnder, type ServerContext } from './context.js';
import type { Endpoint } from './statuses.js';

/** A node of the cluster as gossip describes it. */
export interface Member extends Endpoint {
  readonly state: 'leader' | 'follower' | 'unknown';
  readonly alive: boolean;
}

const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState;
const states = { leader: LEADER, follower: FOLLOWER, unknown: UNKNOWN };

/** Makes the service `Gossip.Read`, which returns the members of the cluster. */
export function makeGossip(
  context: ServerContext,
  members: () => readonly Member[],
): handleUnaryCall<Empty, ClusterInfo> {
  return (_call, callback) => {
    performUnder(
      context,
      { kind: 'gossip', stream: null },
      () => new gossip.ClusterInfo().setMembersList(members().map(memberMessage)),
      (outcome) => {
        if ('error' in outcome) callback(outcome.error);
        else callback(null, outcome.result);
      },
    );
  };
}

function memberMessage(member: Member) {
  return new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-000000000000'))
    .setTimeStamp('0')
    .setState(states[member.state])
    .setIsAlive(member.alive)
    .setHttpEndPoint(new gossip.EndPoint().setAddress(member.host).setPort(member.port));
}

/** Makes the service `ServerFeatures.GetSupportedMethods`. Without it the client does not use `BatchAppend`. */
export function makeServerFeatures(context: ServerContext): handleUnaryCall<Empty, SupportedMethods> {
  return (_call, callback) => {
    performUnder(
      context,
      { kind: 'features', stream: null },
      () =>
        new features.SupportedMethods()
          .setEventStoreServerVersion(context.options.version)
          .setMethodsList(
            ['Read', 'Append', 'BatchAppend'].map((name) =>
              new features.SupportedMethod()
                .setServiceName('event_store.client.streams.Streams')
                .setMethodName(name),
            ),
          ),
      (outcome) => {
        if ('error' in outcome) callback(outcome.error);
        else callback(null, outcome.result);
      },
    );
  };
}
