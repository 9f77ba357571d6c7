import { createCallMeter, measureCalls } from '@lapse/runtime';
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

/** The same stock: how long its operations take, and how many fail, is in the metrics. */
export function measureStock(stock: Stock): Stock {
  return measureCalls(stock, meter, classOf);
}
