// What infra/simulation runs against modelled stores: this process without its wiring.
export { type CloseOrdersParts, closeOrders } from './close-orders.ts';
export { openReleaseLane, type ReleaseLane } from './open-release-lane.ts';
