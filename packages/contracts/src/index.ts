export {
  type ActivityView,
  activitiesPerPageMax,
  activityList,
  activityView,
  type ChangeCapacityBody,
  type CreateActivityBody,
  changeCapacityBody,
  createActivityBody,
  latePaymentPolicies,
  paymentGraceMsDefault,
  paymentGraceMsMax,
  payWithinMsDefault,
  payWithinMsMax,
  remindAfterMsDefault,
} from './activity.ts';
export { delayLevelsMs, durationMs, parseDurationMs } from './duration.ts';
export { activityId, idempotencyKey, orderId, userId } from './ids.ts';
export {
  deliveryKinds,
  dismissOutcomes,
  effectOutcomes,
  findingList,
  leftEffectList,
  operationsPageMax,
  type ParkedView,
  parkedKinds,
  parkedList,
  parkedOutcomes,
  parkedStates,
  type RefundView,
  redriveEffectsBody,
  refundList,
  refundOutcomes,
  refundStates,
  resendBody,
  resendOutcomes,
  settleRowsBody,
  undeliveredList,
} from './operations.ts';
export {
  type CreateOrderBody,
  cancelOrderBody,
  createOrderBody,
  type ExtendOrderBody,
  extendOrderBody,
  type OrderTimeline,
  type OrderView,
  orderTimeline,
  orderView,
  type TimelineEvent,
  timelineEvent,
} from './order.ts';
export { type OrderPaymentView, orderPaymentView } from './order-payment.ts';
export { type OrderStatus, orderStatuses, type TransitionCause, transitionCauses } from './order-status.ts';
export { buyerNotice, buyerNoticeExample, shopEvent, shopEventExample } from './outgoing-webhooks.ts';
export {
  type SimulatorAttempt,
  type SimulatorAttemptBody,
  type SimulatorCapture,
  type SimulatorFaults,
  type SimulatorLedger,
  type SimulatorPayBody,
  type SimulatorRefund,
  type SimulatorRefundBody,
  simulatorAttempt,
  simulatorAttemptBody,
  simulatorFaults,
  simulatorLedger,
  simulatorPayBody,
  simulatorRefund,
  simulatorRefundBody,
} from './payment-simulator.ts';
export {
  otherWebhookBody,
  type PaymentOutcome,
  type PaymentWebhookBody,
  paymentOutcomes,
  paymentWebhookBody,
  type RefundFailedWebhookBody,
  refundFailedWebhookBody,
  webhookToleranceSeconds,
} from './payment-webhook.ts';
export { type ProblemCode, type ProblemView, problems, problemView } from './problem.ts';
export {
  type RefundPaidByHandView,
  refundPaidByHandBody,
  refundPaidByHandView,
} from './refund-by-hand.ts';
export {
  consumerGroupOf,
  deadLetterGroupOf,
  deadLetterTopicOf,
  messageBytesMax,
  type OutboxRow,
  ordersPerMessageMax,
  type Phase,
  type TimeoutMessage,
  type TimeoutOrder,
  timeoutMessage,
  timeoutMessageVersion,
  timeoutOrder,
  topicOf,
} from './timeout-message.ts';
