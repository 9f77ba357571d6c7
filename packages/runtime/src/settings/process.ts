import { defineGroup } from './setting.ts';
import { duration, host, matching, oneOf, port } from './values.ts';

export const processGroup = defineGroup({
  logLevel: {
    env: 'LAPSE_LOG_LEVEL',
    schema: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    example: 'debug',
    help: 'The least important log lines that are written.',
  },
  shutdownTimeoutMs: {
    env: 'LAPSE_SHUTDOWN_TIMEOUT',
    schema: duration(100, 600_000),
    default: '15s',
    example: '30s',
    help: 'Longest time from the signal to stop until the process is gone.',
  },
  closeTimeoutMs: {
    env: 'LAPSE_SHUTDOWN_STEP_TIMEOUT',
    schema: duration(100, 600_000),
    default: '10s',
    example: '5s',
    help: 'Longest time that one part (a consumer, a pool) gets to close before the next one is closed; the whole stays within LAPSE_SHUTDOWN_TIMEOUT.',
  },
  crashAt: {
    env: 'LAPSE_CRASH_AT',
    schema: matching(
      /^[A-Za-z0-9.:-]+(?:@[1-9]\d{0,5})?(?:,[A-Za-z0-9.:-]+(?:@[1-9]\d{0,5})?)*$/,
      'must be crash points such as "orders.closeExpired:after@2", with commas between',
    ),
    optional: true,
    example: 'orders.closeExpired:after',
    help: 'For tests of crashes alone: the process kills itself when it passes this point.',
  },
});

export const opsGroup = defineGroup({
  host: {
    env: 'LAPSE_OPS_HOST',
    schema: host(),
    default: '127.0.0.1',
    example: '0.0.0.0',
    help: 'Address of /healthz, /readyz and /metrics. They have no login: keep them off public networks.',
  },
  port: {
    env: 'LAPSE_OPS_PORT',
    schema: port(),
    default: '0',
    example: '9090',
    help: 'Port of /healthz, /readyz and /metrics; 0 takes any free one and logs it.',
  },
});
