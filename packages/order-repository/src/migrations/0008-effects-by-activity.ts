import { addIndex } from './add-columns.ts';
import type { Migration } from './migration.ts';

/** For the audit, which asks of each activity what Redis is still owed. */
export const indexEffectsByActivity: Migration = {
  name: '0008-effects-by-activity',
  up: (knex) => addIndex(knex, 'effect', 'effect_activity', 'KEY effect_activity (activity_id, kind)'),
};
