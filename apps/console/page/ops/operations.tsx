import { ListPage } from './list-page.tsx';
import './ops.css';
import { OperatorOrderPage } from './order-page.tsx';
import { Overview } from './overview.tsx';

/** The operators' part: the overview, the rows behind each of its numbers, an order. */
export function Operations({ address }: { readonly address: URL }) {
  const order = /^\/ops\/orders\/([0-9a-f-]{36})$/.exec(address.pathname)?.[1];
  if (order !== undefined) return <OperatorOrderPage key={order} id={order} />;
  if (address.pathname === '/ops/list') return <ListPage key={address.search} query={address.searchParams} />;
  return <Overview />;
}
