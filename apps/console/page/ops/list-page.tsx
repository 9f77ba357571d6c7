import type { ProblemView } from '@lapse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../call-api.ts';
import { useSpeech } from '../language.tsx';
import { problemText } from '../problem-text.ts';
import { Link } from '../router.tsx';
import type { Texts } from '../texts/en.ts';
import { RowAction, type RowKind } from './row-action.tsx';

type Row = Readonly<Record<string, unknown>>;

/** Where each list comes from, and its columns. */
const sources = {
  orders: {
    path: '/api/ops/orders',
    columns: ['id', 'status', 'activityId', 'userId', 'expiresAt', 'closedAt'],
  },
  parked: { path: '/api/ops/parked', columns: ['id', 'kind', 'orderId', 'reason', 'createdAt'] },
  refunds: {
    path: '/api/ops/refunds',
    columns: [
      'id',
      'state',
      'orderId',
      'amountMinor',
      'currency',
      'reason',
      'tries',
      'lastError',
      'receivedAt',
    ],
  },
  undelivered: {
    path: '/api/ops/undelivered',
    columns: ['id', 'what', 'orderId', 'attempts', 'lastError', 'createdAt'],
  },
  waiting: {
    path: '/api/ops/waiting',
    columns: ['id', 'what', 'orders', 'orderId', 'attempts', 'lastError', 'createdAt'],
  },
  findings: { path: '/api/ops/findings', columns: ['at', 'activityId', 'kind', 'action', 'healedAt'] },
} as const;
type ListName = keyof typeof sources;

/** The rows behind a number, as they are now. */
export function ListPage({ query }: { readonly query: URLSearchParams }) {
  const { t, count } = useSpeech();
  const of = query.get('of') ?? '';
  const name: ListName = of in sources ? (of as ListName) : 'orders';
  const canChoose = isChoosable(name);
  const { path, columns } = sources[name];
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [rows, setRows] = useState<readonly Row[] | null>(null);
  const [problem, setProblem] = useState<ProblemView | null | undefined>(undefined);
  useEffect(() => {
    const search = new URLSearchParams(query);
    search.delete('of');
    void callApi<Record<string, Row[] | undefined>>('GET', `${path}?${search}`).then((answer) => {
      if (answer.ok) setRows(answer.value[name] ?? []);
      else setProblem(answer.problem);
    });
  }, [path, name, query]);
  return (
    <>
      <div class="page-head">
        <Link to="/ops" class="back">
          ← {t.ops.back}
        </Link>
        <p class="soft small">{rows === null ? '' : t.ops.rows(count(rows.length))}</p>
      </div>
      <section class="card" aria-labelledby="list">
        <h1 id="list">{titleOf(t, name, query)}</h1>
        <p class="fault" role="alert">
          {problem === undefined ? '' : problemText(t, problem)}
        </p>
        {rows?.length === 0 ? <p class="soft">{t.ops.noRows}</p> : null}
        {rows === null || rows.length === 0 ? null : (
          // Scrolls by keyboard as well.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable
          <section class="scroll" aria-labelledby="list" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  {canChoose ? <th scope="col">{t.ops.choose}</th> : null}
                  {columns.map((column) => (
                    <th key={column} scope="col">
                      {t.columns[column]}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={String(row.id)}>
                    {canChoose ? (
                      <td>
                        <input
                          type="checkbox"
                          aria-label={`${t.ops.choose} ${String(row.id)}`}
                          onChange={({ currentTarget }) =>
                            setChosen((before) => withOne(before, Number(row.id), currentTarget.checked))
                          }
                        />
                      </td>
                    ) : null}
                    {columns.map((column) => (
                      <Cell key={column} column={column} value={row[column]} isOrder={name === 'orders'} />
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
      </section>
      {isChoosable(name) && chosen.size > 0 ? (
        <section class="card" aria-labelledby="chosen">
          <h2 id="chosen">{t.ops.selected(chosen.size)}</h2>
          <RowAction of={name} ids={[...chosen]} areEvents={query.get('kind') === 'shop_event'} />
        </section>
      ) : null}
    </>
  );
}

/** Whether something can be done about its rows here. */
function isChoosable(name: ListName): name is ListName & RowKind {
  return name === 'parked' || name === 'refunds' || name === 'undelivered';
}

function withOne(before: ReadonlySet<number>, id: number, isIn: boolean): ReadonlySet<number> {
  const after = new Set(before);
  if (isIn) after.add(id);
  else after.delete(id);
  return after;
}

function titleOf(t: Texts, name: ListName, query: URLSearchParams): string {
  const filters = [...query].filter(([key]) => key !== 'of').map(([key, value]) => filterText(t, key, value));
  return [t.lists[name], ...filters].join(' · ');
}

function filterText(t: Texts, key: string, value: string): string {
  if (key === 'late') return t.ops.lateness;
  if (key === 'due') return t.ops.dueFrom(value);
  if (key === 'activity') return `${t.ops.activity} ${value}`;
  return wordOf(t, value);
}

/** A state or kind in the reader's language; what has no word there is shown as it is. */
function wordOf(t: Texts, value: string): string {
  return (t.words as Readonly<Record<string, string>>)[value] ?? value;
}

/** Columns whose values are of a closed list. */
const worded: readonly string[] = ['status', 'state', 'kind', 'what', 'action'];

interface CellProps {
  readonly column: string;
  readonly value: unknown;
  readonly isOrder: boolean;
}

function Cell({ column, value, isOrder }: CellProps) {
  const { t, dateTime, exactTime } = useSpeech();
  if (value === null || value === undefined) return <td>–</td>;
  if (column === 'orderId' || (isOrder && column === 'id')) {
    return (
      <td class="id">
        <Link to={`/ops/orders/${String(value)}`}>{String(value)}</Link>
      </td>
    );
  }
  if (column === 'at' || column.endsWith('At')) {
    return <td>{(isOrder ? exactTime : dateTime)(String(value))}</td>;
  }
  if (worded.includes(column)) return <td>{wordOf(t, String(value))}</td>;
  return <td class={column === 'userId' ? 'id' : ''}>{String(value)}</td>;
}
