export { answerRefusal, type CancelAnswer } from './answer-refusal.ts';
export { cancelByOperator } from './cancel-by-operator.ts';
export { type CapacityPorts, changeCapacity } from './change-capacity.ts';
export { closeByOperator } from './close-by-operator.ts';
export { directWorker, toWorkerView } from './direct-worker.ts';
export { durationInWords } from './duration-in-words.ts';
export { explainOrder } from './explain-order.ts';
export {
  type ExplainedOrder,
  type ExplanationWords,
  explanationTopics,
  type OrderExplanation,
} from './explanation.ts';
export { type ExtendPorts, extendOrder } from './extend-order.ts';
export { toFindingView } from './finding-view.ts';
export { toLeftEffectView } from './left-effect-view.ts';
export { markRefundPaid } from './mark-refund-paid.ts';
export { openActivity } from './open-activity.ts';
export type { OperatorAnswer } from './operator-answer.ts';
export { toOrderTimeline } from './order-timeline.ts';
export { firstAnswer, toActivityView, toOrderView } from './order-view.ts';
export { toParkedView } from './parked-view.ts';
export { pauseActivity } from './pause-activity.ts';
export type { FieldFault, Problem } from './problem.ts';
export { toRefundView } from './refund-view.ts';
export { settledAnswer } from './settled-answer.ts';
export { tryCancel, tryExtend } from './try-order-change.ts';
export { toUndeliveredView } from './undelivered-view.ts';
