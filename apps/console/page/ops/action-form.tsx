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
  /** The API can say what would happen: a button for that as well. */
  readonly canTry?: boolean;
}

/** What the API answers about rows; other answers have none. */
interface RowsAnswer {
  readonly outcomes?: readonly { readonly id: number | string; readonly kind: string }[];
}

/** A change by an operator's hand: why, then what it does and a second button, then what came of it. */
export function ActionForm({ name, effect, path, body, children, canTry = false }: ActionFormProps) {
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
    const answer = await callApi<RowsAnswer>('POST', path, {
      body: { ...body, reason },
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
    const answer = await callApi<RowsAnswer>('POST', path, { body: { ...body, reason, dryRun: true } });
    setBusy(false);
    setOutcome(answer.ok ? outcomesText(answer.value) : problemText(t, answer.problem));
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
          {canTry ? (
            <button
              type="button"
              class="quiet"
              disabled={busy || reason === ''}
              onClick={() => void tryOut()}
            >
              {t.ops.dryRun}
            </button>
          ) : null}
        </div>
      )}
      <p class="soft outcome" role="status">
        {outcome}
      </p>
    </form>
  );
}

function outcomesText({ outcomes = [] }: RowsAnswer): string {
  return outcomes.map(({ id, kind }) => `${id}: ${kind}`).join(', ');
}
