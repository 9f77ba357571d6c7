import type { OrderTimeline } from '@lapse/contracts';
import { useSpeech } from '../language.tsx';

/** Every transition, message, notice, payment and operator's change, in the API's own words. */
export function Timeline({ timeline }: { readonly timeline: OrderTimeline | null }) {
  const { dateTime } = useSpeech();
  return (
    <ol class="timeline" lang="en">
      {timeline?.events.map(({ at, kind, what, detail }, index) => (
        <li key={`${at} ${kind} ${index}`}>
          <time dateTime={at}>{dateTime(at)}</time>
          <p>{what}</p>
          <dl>
            {Object.entries(detail).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value === null ? '–' : String(value)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ol>
  );
}
