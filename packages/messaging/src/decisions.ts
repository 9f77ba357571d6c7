// What infra/simulation runs against a modelled broker: a worker without its RocketMQ client.
export { createDueQueue, type DueOrder, type DueQueue, type HeldMessage } from './due-queue.ts';
export { type HandleDueOptions, handleDue } from './handle-due.ts';
export { type TakeOptions, takeOrders } from './take-orders.ts';
