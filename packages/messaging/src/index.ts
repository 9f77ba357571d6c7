export {
  type ConsumeOptions,
  consumeTimeouts,
  type TimeoutConsumer,
} from './consume-timeouts.ts';
export { countDeadLetters } from './count-dead-letters.ts';
export { createTopics, type TopicLimits } from './create-topics.ts';
export { type BrokerState, type BrokerTopic, describeBroker } from './describe-broker.ts';
export { type DeadLetterDrain, type DeadLetterOptions, drainDeadLetters } from './drain-dead-letters.ts';
export type { DueOrder } from './due-queue.ts';
export { type GroupLimits, groupByDueTime, type MessageGroup } from './group-by-due-time.ts';
export type { HandleResult } from './handle-due.ts';
export { MessagingError, type MessagingErrorCode } from './messaging-error.ts';
export type { ParkedMessage } from './parked-message.ts';
export { primeGroups } from './prime-groups.ts';
export { openRelay, type Relay, type RelayOptions } from './relay.ts';
export { type SendOutcome, type SendSettings, sendOutboxRows } from './send-outbox-rows.ts';
export type { StoreFault } from './store-trouble.ts';
export {
  deliverAheadMsMax,
  openTimeoutSender,
  type SentMessage,
  type TimeoutSender,
} from './timeout-sender.ts';
