import { useEffect, useState } from 'preact/hooks';
import type { OrderRow } from '../../src/live-states.ts';
import { callApi } from '../call-api.ts';
import { useSpeech } from '../language.tsx';
import { Link } from '../router.tsx';

/** The buyer's newest orders, as they were when the page came up. Each one's own page is live. */
export function MyOrders() {
  const { t, dateTime } = useSpeech();
  const [orders, setOrders] = useState<readonly OrderRow[]>([]);
  useEffect(() => {
    void callApi<{ orders: OrderRow[] }>('GET', '/api/orders').then((answer) => {
      if (answer.ok) setOrders(answer.value.orders);
    });
  }, []);
  if (orders.length === 0) return null;
  return (
    <section class="mine" aria-labelledby="mine">
      <h2 id="mine">{t.sales.myOrders}</h2>
      <ul>
        {orders.map(({ id, status, createdAt }) => (
          <li key={id}>
            <Link to={`/orders/${id}`}>
              <span>{dateTime(createdAt)}</span>
              <span class={`tag ${status}`}>{t.order[status]}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
