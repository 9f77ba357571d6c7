import { Counter, Histogram } from '@lapse/runtime';

/** Labels are codes and route patterns only: never an id, or the number of series has no bound. */
export const ordersCreated = new Counter({
  name: 'lapse_orders_created_total',
  help: 'Orders committed and answered with 201.',
});

export const ordersReplayed = new Counter({
  name: 'lapse_orders_replayed_total',
  help: 'Creates answered with an earlier order, because the Idempotency-Key was the same.',
});

export const requestsRefused = new Counter({
  name: 'lapse_requests_refused_total',
  help: 'Requests answered with a problem, by its code.',
  labelNames: ['code'] as const,
});

export const connectionsDropped = new Counter({
  name: 'lapse_http_connections_dropped_total',
  help: 'Connections hung up on because LAPSE_HTTP_CONNECTIONS_MAX were open.',
});

export const requestSeconds = new Histogram({
  name: 'lapse_http_request_seconds',
  help: 'Time from a request to the end of its answer, by route and class of status.',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
});

export const holdsAbandoned = new Counter({
  name: 'lapse_holds_abandoned_total',
  help: 'Holds in Redis without an order that could not be released in time; an audit must find them.',
});
