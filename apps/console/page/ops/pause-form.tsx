import { useSpeech } from '../language.tsx';
import { ActionForm } from './action-form.tsx';

interface PauseFormProps {
  readonly name: string;
  /** Of the thing; `/pause` and `/resume` lie below it. */
  readonly path: string;
  readonly isPaused: boolean;
  /** What a pause does, and what its end does. */
  readonly effects: readonly [pause: string, resume: string];
}

/** Pause something, or have it go on: out of the way until it is wanted. */
export function PauseForm({ name, path, isPaused, effects }: PauseFormProps) {
  const { t } = useSpeech();
  const what = isPaused ? t.ops.resume : t.ops.pause;
  return (
    <details>
      <summary aria-label={isPaused ? t.ops.resumeOf(name) : t.ops.pauseOf(name)}>{what}</summary>
      <ActionForm
        key={what}
        name={what}
        effect={effects[isPaused ? 1 : 0]}
        path={`${path}/${isPaused ? 'resume' : 'pause'}`}
        body={{}}
      />
    </details>
  );
}
