import { type AnyView, viewVersion } from '../../views/projection.js';

/** The name of what an owner feeds: `view/<view>@<version>`, `reaction/<name>`, `reaction/webhook-<endpoint>`, `task/<name>`. */
type ConsumerName = string;

const [views, reactions] = ['view/', 'reaction/'];
export const taskPrefix = 'task/';
const endpoints = `${reactions}webhook-`;

/** Returns the name of a view. All of its generations are one consumer. */
export function viewConsumer(view: AnyView): ConsumerName {
  return `${views}${viewVersion(view)}`;
}

export function reactionConsumer(name: string): ConsumerName {
  return `${reactions}${name}`;
}

/** Returns the name of an endpoint of outgoing events. */
export function endpointConsumer(id: string): ConsumerName {
  return `${endpoints}${id}`;
}

/** Returns the name of work that one process does at intervals, which is also the key of its lease. */
export function taskConsumer(name: string): ConsumerName {
  return `${taskPrefix}${name}`;
}

/** The sequencing of the audit log, which reads the log as views do. */
export const auditConsumer = taskConsumer('audit-log');

export function isViewConsumer(consumer: ConsumerName): boolean {
  return consumer.startsWith(views);
}

/** Returns whether the consumer is a reaction of the service, and no endpoint. */
export function isReactionConsumer(consumer: ConsumerName): boolean {
  return consumer.startsWith(reactions) && !consumer.startsWith(endpoints);
}

/** Names a consumer in a sentence: "the view users@1". */
export function nameOf(consumer: ConsumerName): string {
  return `the ${consumer.replace('/', ' ')}`;
}
