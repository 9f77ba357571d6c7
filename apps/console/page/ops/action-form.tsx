import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { callApi } from '../call-api.ts';
import { useSpeech } from '../language.tsx';
import { problemText } from '../problem-text.ts';

interface ActionFormProps {
  readonly name: string;
  /** What it does, in a sentence: shown before it is done. */
  readonly effect: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly children?: ComponentChildren;
}

/** What the API answers about rows, and about what may be so already; other answers say nothing of either. */
interface ChangeAnswer {
  readonly outcomes?: readonly { readonly id: number | string; readonly kind: string }[];
  readonly changes?: boolean;
}

/**
 * A change by an operator's hand: why, then what it does and a second button, then what came of it. Beside it a dry
 * run, in which the API judges and changes nothing.
 */
export function ActionForm({ name, effect, path, body, children }: ActionFormProps) {
  const { t } = useSpeech();
  const id = useId();
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const [outcome, setOutcome] = useState('');
  const [busy, setBusy] = useState(false);
  /** One key for each change that was asked for: pressed again after no answer, it is done once. */
  const asked = useRef({ request: '', key: '' });
  const apply = async (): Promise<void> => {
    const request = JSON.stringify({ ...body, reason });
    if (asked.current.request !== request) asked.current = { request, key: crypto.randomUUID() };
    setBusy(true);
    const answer = await callApi<ChangeAnswer>('POST', path, {
      body: { ...body, reason, dryRun: false },
      key: asked.current.key,
    });
    setBusy(false);
    setOutcome(answer.ok ? `${t.ops.done} ${outcomesText(answer.value)}` : problemText(t, answer.problem));
    if (!answer.ok && answer.problem === null) return;
    setAsking(false);
    asked.current = { request: '', key: '' };
  };
  const tryOut = async (): Promise<void> => {
    setBusy(true);
    const answer = await callApi<ChangeAnswer>('POST', path, { body: { ...body, reason, dryRun: true } });
    setBusy(false);
    setOutcome(answer.ok ? triedText(answer.value) : problemText(t, answer.problem));
  };
  const triedText = (answer: ChangeAnswer): string => {
    if (answer.changes === false) return t.ops.nothingToDo;
    return answer.outcomes ? `${t.ops.wouldDo} ${outcomesText(answer)}` : `${t.ops.wouldDo} ${effect}`;
  };
  const ask = (event: SubmitEvent): void => {
    event.preventDefault();
    setOutcome('');
    setAsking(true);
  };
  return (
    <form class="action" onSubmit={ask}>
      {children}
      <label for={id}>{t.ops.why}</label>
      <input
        id={id}
        required
        maxLength={500}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      {asking ? (
        <fieldset class="sure" aria-label={t.ops.sure}>
          <p>{effect}</p>
          <button type="button" class="danger" disabled={busy} onClick={() => void apply()}>
            {t.ops.apply}
          </button>
          <button type="button" disabled={busy} onClick={() => setAsking(false)}>
            {t.order.cancelNo}
          </button>
        </fieldset>
      ) : (
        <div class="choices">
          <button type="submit">{name}</button>
          <button type="button" class="quiet" disabled={busy || reason === ''} onClick={() => void tryOut()}>
            {t.ops.dryRun}
          </button>
        </div>
      )}
      <p class="soft outcome" role="status">
        {outcome}
      </p>
    </form>
  );
}

function outcomesText({ outcomes = [] }: ChangeAnswer): string {
  return outcomes.map(({ id, kind }) => `${id}: ${kind}`).join(', ');
}
