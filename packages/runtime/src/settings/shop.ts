import { defineGroup } from './setting.ts';
import { duration, webhookSecret, wholeNumber } from './values.ts';
import { addressList, oneNeedsOther, webhookUrl } from './webhook-values.ts';

/** Read by every process that changes orders: with an address set, each change is also told to the shop. */
export const shopGroup = defineGroup(
  {
    webhookUrl: {
      env: 'LAPSE_SHOP_WEBHOOK_URL',
      schema: webhookUrl(),
      optional: true,
      example: 'https://shop.example.com/hooks/lapse',
      help: "Where the shop's own systems are told of each order that is created, reminded, paid, closed, cancelled or refunded; not set, nothing is written for them. Set it for every process alike.",
      secret: true,
    },
    webhookSecret: {
      env: 'LAPSE_SHOP_WEBHOOK_SECRET',
      schema: webhookSecret(),
      optional: true,
      example: 'whsec_ and the output of: openssl rand -base64 32',
      help: 'Secret that signs these events, per Standard Webhooks.',
      secret: true,
    },
    timeoutMs: {
      env: 'LAPSE_SHOP_TIMEOUT',
      schema: duration(100, 60_000),
      default: '5s',
      example: '2s',
      help: 'Longest time of one delivery of an event.',
    },
    attemptsMax: {
      env: 'LAPSE_SHOP_ATTEMPTS_MAX',
      schema: wholeNumber(1, 1_000),
      default: '60',
      example: '100',
      help: 'Deliveries tried before an event is parked, and with it the later events of its order. 60 span 4.5 to 9 hours.',
    },
    everyMs: {
      env: 'LAPSE_SHOP_EVERY',
      schema: duration(50, 3_600_000),
      default: '500ms',
      example: '2s',
      help: 'Time between two looks for events to deliver.',
    },
    batchMax: {
      env: 'LAPSE_SHOP_BATCH_MAX',
      schema: wholeNumber(1, 1_000),
      default: '100',
      example: '200',
      help: 'Most events taken at a time.',
    },
    atOnceMax: {
      env: 'LAPSE_SHOP_AT_ONCE_MAX',
      schema: wholeNumber(1, 32),
      default: '16',
      example: '32',
      help: 'Most deliveries of one process at once; those of one order come one after the other.',
    },
  },
  ({ webhookUrl: address, webhookSecret: secret }) =>
    oneNeedsOther(['LAPSE_SHOP_WEBHOOK_URL', address], ['LAPSE_SHOP_WEBHOOK_SECRET', secret]),
);

/** Of whatever address the configuration has webhooks sent to. */
export const webhookGroup = defineGroup({
  allowPrivate: {
    env: 'LAPSE_WEBHOOK_ALLOW_PRIVATE',
    schema: addressList(),
    default: 'none',
    example: '10.1.0.0/16,messages.internal',
    help: 'Private addresses that webhooks may be sent to: `none`, or host names, addresses and ranges with commas between. All private, loopback, link-local and other special ranges are refused otherwise, whatever name leads there.',
  },
});
