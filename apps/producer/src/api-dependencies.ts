import type { OutboxRow } from '@lapse/contracts';
import type { OrderRepository } from '@lapse/order-repository';
import type { PaymentProvider, ProviderEvent, SignedRequest } from '@lapse/payments';
import type { RateLimits } from '@lapse/rate-limits';
import type { Logger } from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import type { Authenticator } from './authenticate.ts';
import type { CreatePorts } from './create-ports.ts';
import type { SaleGate } from './sale-gate.ts';

export interface PaymentDependencies {
  /** Null when the shop starts payments itself. */
  readonly provider: Pick<PaymentProvider, 'name' | 'createAttempt'> | null;
  readonly verifyWebhook: (request: SignedRequest) => ProviderEvent | undefined;
}

/** What the routes work with. `main.ts` and the tests open it; nothing here is opened by the API itself. */
export interface ApiDependencies {
  readonly orders: Pick<
    OrderRepository,
    | 'cancelOrder'
    | 'cancelByOperator'
    | 'changeCapacity'
    | 'dropParked'
    | 'endAttempt'
    | 'dismissPayments'
    | 'extendOrder'
    | 'listActivities'
    | 'listFindings'
    | 'listLeftEffects'
    | 'listParked'
    | 'listRefunds'
    | 'listUndelivered'
    | 'listWorkers'
    | 'markAttemptOpen'
    | 'markEffectsApplied'
    | 'markRefundPaid'
    | 'noteFirstLoad'
    | 'openActivity'
    | 'openAttempt'
    | 'now'
    | 'readOrder'
    | 'readTimeline'
    | 'recordPayment'
    | 'recordRefundFailure'
    | 'redriveEffects'
    | 'redriveParked'
    | 'refundPayments'
    | 'resendUndelivered'
    | 'setActivityPaused'
    | 'setWorkerWanted'
  >;
  readonly stock: Pick<Stock, 'confirm' | 'load' | 'reacquire' | 'release' | 'setCapacity'>;
  readonly create: CreatePorts;
  /** Shut while an operator wants this process to be paused: it takes no new orders then. */
  readonly gate: Pick<SaleGate, 'isOpen' | 'pass'>;
  /** Takes outbox rows once committed; never throws. */
  readonly relay: { add(row: OutboxRow): void };
  readonly authenticate: Authenticator;
  readonly payments: PaymentDependencies;
  /** Longest time a client may take to send a request. */
  readonly requestTimeoutMs: number;
  /** Whose X-Forwarded-For is believed; absent: nobody's. */
  readonly trustProxy?: readonly string[];
  readonly limits: Pick<RateLimits, 'countAddress' | 'countBuyer'>;
  readonly log: Logger;
}
