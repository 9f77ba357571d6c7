import { consumeTimeouts, openRelay, type Relay, type TimeoutConsumer } from '@lapse/messaging';
import { rearmOrders } from '@lapse/order-flow';
import {
  consume,
  log,
  openBroker,
  openShop,
  relay as relayConfig,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { closeOrders } from '../src/close-orders.ts';
import { openReleaseLane } from '../src/open-release-lane.ts';

export interface TestCloser {
  readonly shop: Shop;
  readonly broker: TestBroker;
  readonly relay: Relay;
  readonly closer: TimeoutConsumer;
  close(): Promise<void>;
}

/**
 * A shop and a broker, and what a closer's process has to do with them.
 * @param offByMs how far the clock of this process is from the database's.
 */
export async function openCloser(offByMs: () => number = () => 0): Promise<TestCloser> {
  const shop = await openShop();
  const broker = await openBroker();
  const { orders, stock } = shop;
  const relay = openRelay({ ...relayConfig, sender: broker.sender, markSent: orders.markOutboxSent, log });
  const lane = openReleaseLane({ stock, orders, log });
  const closer = await consumeTimeouts(
    { ...broker.config, ...consume },
    {
      ...{ phase: 2, batchMax: 2_000, handle: closeOrders({ orders, releaseStock: lane.release, log }) },
      ...{ rearm: rearmOrders({ phase: 2, orders, relay, log }), park: orders.parkMessage },
      ...{ now: () => orders.now() + offByMs(), log },
    },
  );
  return {
    ...{ shop, broker, relay, closer },
    close: async () => {
      for (const part of [closer, lane, relay, broker.sender, shop]) await part.close();
    },
  };
}
