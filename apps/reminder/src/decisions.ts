// What infra/simulation runs against modelled stores: this process without its wiring.
export { type DeliverNoticesParts, deliverNotices } from './deliver-notices.ts';
export { type RemindBuyersParts, remindBuyers } from './remind-buyers.ts';
