import { useSpeech } from '../language.tsx';
import { useRemaining } from '../server-clock.ts';

interface CountdownProps {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Time left, to the second, by the server's clock. Not read out every second: the deadline is in the text. */
export function Countdown({ fromMs, untilMs }: CountdownProps) {
  const { t } = useSpeech();
  const remaining = useRemaining(untilMs);
  const seconds = Math.ceil(remaining / 1_000);
  return (
    <div class="countdown">
      <p class="clock" role="timer" aria-label={t.order.remaining} data-seconds={seconds}>
        {clockText(seconds)}
      </p>
      <progress max={Math.max(1, untilMs - fromMs)} value={remaining} aria-label={t.order.remaining} />
      <p class="soft at-zero" role="status">
        {seconds === 0 ? t.order.atZero : ''}
      </p>
    </div>
  );
}

/** `4:59`; with hours where there are some: `71:59:59`. */
function clockText(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
