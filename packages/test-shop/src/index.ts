export { consume, openBroker, relay, type TestBroker } from './broker.ts';
export { openProcesses, portIn, type ShopProcesses } from './open-processes.ts';
export { createScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';
export { noAnswer, outcomesOf } from './settled.ts';
export {
  captureLog,
  countCredits,
  log,
  type OrderTimes,
  openActivity,
  openShop,
  type PlacedOrders,
  placeOrders,
  readStock,
  type Shop,
} from './shop.ts';
export { directWorker, findWorker, waitForState } from './workers.ts';
