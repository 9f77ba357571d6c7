import type { Activity } from './activity.ts';

export interface PausedActivity {
  readonly activity: Activity;
  /** False: its sale was paused, or not, already. Of a dry run: what would be. */
  readonly changes: boolean;
}

export interface PauseRefusal {
  /** `archived`: its sale is over for good. */
  readonly kind: 'not_found' | 'archived';
}
