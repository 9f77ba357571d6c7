// What infra/simulation runs against modelled stores: this process without HTTP and wiring.
export { type BeginPaymentAnswer, beginPayment } from './begin-payment.ts';
export { type CancelAnswer, type CancelPorts, cancelOrder } from './cancel-order.ts';
export { type CapacityPorts, changeCapacity } from './change-capacity.ts';
export type { CreateAnswer } from './create-answer.ts';
export { type CreateRequest, createOrder } from './create-order.ts';
export { type CreateDependencies, openCreatePorts } from './create-ports.ts';
export { type ExtendPorts, extendOrder, type OperatorAnswer } from './extend-order.ts';
export { type PaymentPorts, takePayment } from './payment-webhook.ts';
