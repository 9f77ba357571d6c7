import type { OrderTimeline, TimelineEvent } from '@lapse/contracts';
import { useSpeech } from '../language.tsx';

/** Every transition, message, notice, payment and operator's change, in the API's own words. */
export function Timeline({ timeline }: { readonly timeline: OrderTimeline | null }) {
  const { exactTime } = useSpeech();
  return (
    <ol class="timeline" lang="en">
      {timeline?.events.map(({ at, kind, what, detail }, index) => (
        <li key={`${at} ${kind} ${index}`}>
          <time dateTime={at}>{exactTime(at)}</time>
          <p>{what}</p>
          <dl>
            {told(detail).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{String(value)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ol>
  );
}

/** Without what says nothing: no value, and places of which none moved. */
function told(detail: TimelineEvent['detail']): [string, string | number][] {
  return Object.entries(detail).filter(
    (entry): entry is [string, string | number] =>
      entry[1] !== null && !(entry[1] === 0 && entry[0].startsWith('places')),
  );
}
