import { createCallMeter, measureCalls, traceOrders, type Watchers } from '@lapse/runtime';
import type { Stock } from './stock.ts';

const classes = ['reserve', 'release', 'confirm', 'reacquire', 'load', 'capacity', 'read', 'prune'] as const;
type Class = (typeof classes)[number];

/** Every operation, so that a new one cannot be forgotten. A scan is read page by page, as its caller asks. */
const classOf: Readonly<Record<Exclude<keyof Stock, 'close' | 'stopping' | 'ping' | 'scanOld'>, Class>> = {
  reserve: 'reserve',
  release: 'release',
  confirm: 'confirm',
  reacquire: 'reacquire',
  load: 'load',
  forget: 'prune',
  setCapacity: 'capacity',
  describeServers: 'read',
  readLoadToken: 'read',
  readLoad: 'read',
  readCounts: 'read',
  inspect: 'read',
  peek: 'read',
  readHold: 'read',
  forgetReleased: 'prune',
};

const meter = createCallMeter('redis', classes);

const attributes = { 'db.system.name': 'redis' };

const watchers: Watchers<Stock> = {
  reserve: (call, { kind }, { orderId }) => {
    if (kind === 'reserved') {
      traceOrders({ name: 'redis reserve', kind: 'client', ...call, orderIds: [orderId], attributes });
    }
  },
  release: (call, { kind }, _activityId, orderIds) => {
    if (kind === 'done')
      traceOrders({ name: 'redis release', kind: 'client', ...call, orderIds, attributes });
  },
  confirm: (call, { kind }, _activityId, orderIds) => {
    if (kind === 'done')
      traceOrders({ name: 'redis confirm', kind: 'client', ...call, orderIds, attributes });
  },
};

/** The same stock: how long its operations take, and how many fail, is in the metrics; what is done for an order, in its trace. */
export function measureStock(stock: Stock): Stock {
  return measureCalls(stock, meter, classOf, watchers);
}
