import type { Activity } from './activity.ts';

export interface PausedActivity {
  readonly activity: Activity;
  /** False: its sale was paused, or not, already. Of a dry run: what would be. */
  readonly changes: boolean;
}

export interface PauseRefusal {
  readonly kind: 'not_found';
}
