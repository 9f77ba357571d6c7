import type { OrderViews } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { CallProducer } from './call-producer.ts';
import type { FanOut } from './fan-out.ts';
import type { History } from './keep-history.ts';
import type { MintGuest } from './mint-guest.ts';
import type { Sessions } from './sessions.ts';
import type { StreamLimits } from './stream-limits.ts';

/** What the routes work with. `main.ts` and the tests open it. */
export interface ConsoleDependencies {
  readonly views: OrderViews;
  readonly call: CallProducer;
  readonly fanOut: FanOut;
  readonly limits: StreamLimits;
  readonly sessions: Sessions;
  /** Null: whoever comes must sign in. */
  readonly mintGuest: MintGuest | null;
  readonly history: History;
  /** Look at once: a topic has its first reader. */
  readonly wake: (topic: 'sales' | 'operations') => void;
  /** How browsers reach the page; absent: by whatever name they ask for. */
  readonly publicUrl?: string | undefined;
  /** Whose X-Forwarded-For is believed; absent: nobody's. */
  readonly trustProxy?: readonly string[] | undefined;
  /** Folder of the built page. */
  readonly pageDir: string;
  readonly streamsMax: number;
  readonly log: Logger;
}
