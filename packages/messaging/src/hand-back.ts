import { type Logger, workInLanes } from '@lapse/runtime';
import type { MessageView, SimpleConsumer } from 'rocketmq-client-nodejs';
import type { HeldMessage } from './due-queue.ts';
import { messageOf } from './start-client.ts';

/** The broker delivers again this long after it was handed back, plus the few seconds its own check takes. */
const handBackMs = 100;
const handBacksMax = 16;

/**
 * Give messages back to the broker, so that another worker gets them now and not after the invisible time.
 * Never throws: what cannot be handed back comes again by itself.
 */
export async function handBack(
  consumer: Pick<SimpleConsumer, 'changeInvisibleDuration'>,
  messages: ReadonlySet<HeldMessage<MessageView>>,
  log: Logger,
): Promise<void> {
  const views = [...messages]
    .filter((message) => message.holdUntilMs > performance.now())
    .map((message) => message.view);
  if (views.length === 0) return;
  log.info({ messages: views.length }, 'handing messages back to the broker');
  await workInLanes(views, handBacksMax, async (view) => {
    try {
      await consumer.changeInvisibleDuration(view, handBackMs);
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a message was not handed back; it comes again later');
    }
  });
}
