import { useSpeech } from './language.tsx';
import type { Live } from './use-live.ts';

/** Whether what is shown is live. Always there, so that nothing moves when it changes. */
export function LinkState({ link }: Pick<Live<unknown>, 'link'>) {
  const { t } = useSpeech();
  return (
    <p class={`link-state ${link}`} role="status">
      <span class="dot" aria-hidden="true" />
      {t.link[link]}
    </p>
  );
}
