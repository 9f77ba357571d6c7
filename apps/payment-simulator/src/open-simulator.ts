import type { Closable, Logger, SimulatorConfig } from '@lapse/runtime';
import { type Bank, openBank } from './bank.ts';
import { Books } from './books.ts';
import type { Dependencies } from './dependencies.ts';
import { openJournal } from './journal.ts';
import { openSender } from './send-deliveries.ts';

export type Simulator = Pick<Dependencies, 'bank' | 'books' | 'faults'> & Closable;

/** Replay the journal, and go on where the last process ended: payments that were due, events not delivered yet. */
export async function openSimulator(config: SimulatorConfig, log: Logger): Promise<Simulator> {
  const { webhookUrl, webhookSecret, webhookTimeoutMs, webhookTriesMax } = config;
  const books = new Books();
  const journal = await openJournal(config.dir, (record) => books.apply(record));
  const faults = { current: config.faults };
  const ended = (deliveryId: string, tries: number, gaveUp: boolean): void => {
    const record = { kind: 'delivered', deliveryId, tries, gaveUp } as const;
    journal.append(record);
    books.apply(record);
  };
  const sender =
    webhookUrl !== undefined && webhookSecret !== undefined
      ? openSender({
          url: webhookUrl,
          secret: webhookSecret,
          timeoutMs: webhookTimeoutMs,
          triesMax: webhookTriesMax,
          ended,
          log,
        })
      : undefined;
  for (const delivery of books.deliveries.values()) sender?.add(delivery);
  const bank: Bank = openBank({
    books,
    journal,
    faults: () => faults.current,
    deliver: sender?.add,
    limits: config,
    log,
  });
  log.info(
    { attempts: books.attempts.size, moves: books.moves.length, events: books.deliveries.size },
    'journal replayed',
  );
  return {
    bank,
    books,
    faults,
    close: async () => {
      await bank.close();
      await sender?.close();
      await journal.close();
    },
  };
}
