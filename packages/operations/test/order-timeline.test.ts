import { expect, test } from 'vitest';
import { toOrderTimeline } from '../src/index.ts';
import { aTimeline } from './a-timeline.ts';

test('a notice that went out is not said to have reached the buyer: the channel may be a log', () => {
  const timeline = { ...aTimeline.timeline, notifications: [aTimeline.notice] };
  const { events } = toOrderTimeline(timeline, { forOperator: true });
  expect(events.map(({ what }) => what)).toContain('closed notice handed to the notification channel');
});
