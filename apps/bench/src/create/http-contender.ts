import type { AppHttp } from '../app-program.ts';
import type { Sale } from '../sale.ts';
import type { Program } from '../start-programs.ts';

/** One way to sell places over HTTP: `POST /v1/activities/ID/orders` with a token and an Idempotency-Key. */
export interface HttpContender {
  readonly name: string;
  readonly about: string;
  /** Where its orders are when it has answered 201: for Lapse the oracle judges both stores. */
  readonly judgedBy: 'oracle' | 'counts' | 'redis';
  /** See `Contender`. */
  readonly roundsMax?: number;
  /** Fewer requests than asked for, where those would take too long. */
  readonly ordersMax: number;
  readonly needsBroker: boolean;
  /** Servers that share the connections; one by default. */
  readonly processes?: number;
  /** Its server as a program that exists already. */
  readonly program?: (sale: Sale, http: HttpPlace) => Program;
  /** Its server, in a process of its own. Resolves once it listens. */
  readonly serve?: (sale: Sale, place: HttpPlace) => Promise<void>;
}

export interface HttpPlace extends AppHttp {
  /** Under which the process is reported. */
  readonly worker: string;
}
