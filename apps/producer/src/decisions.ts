// What infra/simulation runs against modelled stores: this process without HTTP and wiring.
export { type BeginPaymentAnswer, beginPayment } from './begin-payment.ts';
export { type CancelPorts, cancelOrder } from './cancel-order.ts';
export type { CreateAnswer } from './create-answer.ts';
export { type CreateRequest, createOrder } from './create-order.ts';
export { type CreateDependencies, openCreatePorts } from './create-ports.ts';
export { type PaymentPorts, takePayment } from './payment-webhook.ts';
