import type { OrderPaymentView } from '@lapse/contracts';
import { useState } from 'preact/hooks';
import type { OrderState } from '../../src/live-states.ts';
import { callApi } from '../call-api.ts';
import { useSpeech } from '../language.tsx';
import { problemText } from '../problem-text.ts';

/** What a buyer may do with a pending order. */
export function PayAndCancel({ order }: { readonly order: OrderState }) {
  const { t } = useSpeech();
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const [payUrl, setPayUrl] = useState<string | null>(null);
  const [fault, setFault] = useState('');

  const pay = async (): Promise<void> => {
    setBusy(true);
    setFault('');
    // Opened by the click itself: a browser blocks a window that opens later.
    const tab = open('about:blank', '_blank');
    const answer = await callApi<OrderPaymentView>('POST', `/api/orders/${order.id}/payments`);
    setBusy(false);
    if (answer.ok && answer.value.payUrl !== null) {
      setPayUrl(answer.value.payUrl);
      if (tab === null) return;
      tab.opener = null;
      tab.location.href = answer.value.payUrl;
      return;
    }
    tab?.close();
    setFault(answer.ok ? t.trouble.noPayment : problemText(t, answer.problem));
  };
  const cancel = async (): Promise<void> => {
    setBusy(true);
    const answer = await callApi('POST', `/api/orders/${order.id}/cancel`);
    setBusy(false);
    setAsking(false);
    setFault(answer.ok ? '' : problemText(t, answer.problem));
  };

  return (
    <div class="choices">
      <button type="button" class="main" disabled={busy} onClick={() => void pay()}>
        {busy && !asking ? t.order.paying : t.order.pay}
      </button>
      {asking ? (
        <fieldset class="sure" aria-label={t.order.cancelSure}>
          <p>{t.order.cancelSure}</p>
          <button type="button" class="danger" disabled={busy} onClick={() => void cancel()}>
            {t.order.cancelYes}
          </button>
          <button type="button" disabled={busy} onClick={() => setAsking(false)}>
            {t.order.cancelNo}
          </button>
        </fieldset>
      ) : (
        <button type="button" class="quiet" disabled={busy} onClick={() => setAsking(true)}>
          {t.order.cancel}
        </button>
      )}
      <p class="soft pay-open" role="status">
        {payUrl === null && !order.isBeingPaid ? '' : t.order.payOpen}{' '}
        {payUrl === null ? null : (
          <a href={payUrl} target="_blank" rel="noopener noreferrer">
            {t.order.payAgain}
          </a>
        )}
      </p>
      <p class="fault" role="alert">
        {fault}
      </p>
    </div>
  );
}
