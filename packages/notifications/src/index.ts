export { DeliveryError, type DeliveryFault } from './delivery-error.ts';
export { formatAmount } from './format-amount.ts';
export type { Notice, NoticeStage } from './notice.ts';
export { type Notifier, openNotifier } from './open-notifier.ts';
export { openShopChannel, type ShopChannel, type ShopEvent } from './open-shop-channel.ts';
export { type NoticeContent, type RenderedNotice, renderNotice } from './render-notice.ts';
