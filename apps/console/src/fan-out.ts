import { createHash } from 'node:crypto';

/** One open live view. */
export interface Reader {
  /** @returns false when it is so far behind that it is to be dropped. */
  send(frame: string): boolean;
  end(): void;
}

export interface FanOut {
  /**
   * Take part in a topic. The topic's state is sent at once where it is known, unless `lastEventId` says that the
   * reader has just that.
   * @returns the way out; safe to call twice.
   */
  join(topic: string, reader: Reader, lastEventId?: string): () => void;
  /** Tell the readers of a topic its whole state; a state that they have already is not sent again. */
  publish(topic: string, state: object): void;
  /** Topics that somebody reads now. */
  topics(): string[];
  /** Tell every reader the time, so that dead connections are found and clocks stay right. */
  tellTime(nowMs: number): void;
  /** End all readers: they come back by themselves, to another process. */
  endAll(): void;
  readonly readers: () => number;
}

interface Topic {
  readonly readers: Set<Reader>;
  latest: { readonly id: string; readonly frame: string } | undefined;
}

/**
 * Sends states to whoever watches. An event's id is a hash of its state: so a client that comes back, to this process
 * or another, is told something only if it missed something. Nothing is kept of a topic that nobody reads.
 */
export function createFanOut({ onDropped }: { readonly onDropped: () => void }): FanOut {
  const topics = new Map<string, Topic>();

  const leave = (name: string, reader: Reader): void => {
    const topic = topics.get(name);
    topic?.readers.delete(reader);
    if (topic?.readers.size === 0) topics.delete(name);
  };
  const send = (name: string, reader: Reader, frame: string): void => {
    if (reader.send(frame)) return;
    leave(name, reader);
    reader.end();
    onDropped();
  };
  const all = (): [string, Reader][] =>
    [...topics].flatMap(([name, { readers }]) =>
      [...readers].map((reader): [string, Reader] => [name, reader]),
    );

  return {
    join: (name, reader, lastEventId) => {
      const topic = topics.get(name) ?? { readers: new Set(), latest: undefined };
      topics.set(name, topic);
      topic.readers.add(reader);
      if (topic.latest !== undefined && topic.latest.id !== lastEventId)
        send(name, reader, topic.latest.frame);
      return () => leave(name, reader);
    },
    publish: (name, state) => {
      const topic = topics.get(name);
      if (topic === undefined) return;
      const data = JSON.stringify(state);
      const id = createHash('sha256').update(data).digest('base64url').slice(0, 16);
      if (topic.latest?.id === id) return;
      const frame = `id: ${id}\nevent: state\ndata: ${data}\n\n`;
      topic.latest = { id, frame };
      for (const reader of [...topic.readers]) send(name, reader, frame);
    },
    topics: () => [...topics.keys()],
    tellTime: (nowMs) => {
      for (const [name, reader] of all()) send(name, reader, clockFrame(nowMs));
    },
    endAll: () => {
      for (const [name, reader] of all()) {
        leave(name, reader);
        reader.end();
      }
    },
    readers: () => all().length,
  };
}

/** A comment, which keeps the connection alive through proxies, and the time. */
export function clockFrame(nowMs: number): string {
  return `: alive\nevent: clock\ndata: {"now":${nowMs}}\n\n`;
}
