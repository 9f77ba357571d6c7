/** `warn`: it works, and a person should know. `fail`: it does not. `skipped`: what it needs could not be had. */
export type CheckState = 'ok' | 'warn' | 'fail' | 'skipped';

/** One thing that was looked at. */
export interface Check {
  readonly area: 'settings' | 'mysql' | 'redis' | 'rocketmq';
  readonly check: string;
  readonly state: CheckState;
  readonly says: string;
  /** What mends it; of `warn` and `fail` always there. */
  readonly fix?: string;
}
