import { describe, expect, it } from 'vitest';
import { createFanOut, type Reader } from '../src/fan-out.ts';
import { createStreamLimits } from '../src/stream-limits.ts';

function reader(takes: () => boolean = () => true) {
  const frames: string[] = [];
  let ended = 0;
  const opened: Reader = {
    send: (frame) => {
      if (!takes()) return false;
      frames.push(frame);
      return true;
    },
    end: () => {
      ended += 1;
    },
  };
  return { opened, frames, ended: () => ended };
}
const idOf = (frame: string | undefined): string | undefined => /^id: (\S+)$/m.exec(frame ?? '')?.[1];

describe('the fan-out', () => {
  it('sends a whole state to everybody of its topic, and to nobody else', () => {
    const fanOut = createFanOut({ onDropped: () => undefined });
    const [ann, bea] = [reader(), reader()];
    fanOut.join('order:1', ann.opened);
    fanOut.join('order:2', bea.opened);
    fanOut.publish('order:1', { status: 'PAID' });
    expect(ann.frames).toEqual([expect.stringContaining('event: state\ndata: {"status":"PAID"}\n\n')]);
    expect(bea.frames).toEqual([]);
  });

  it('says nothing twice: the same state is one event', () => {
    const fanOut = createFanOut({ onDropped: () => undefined });
    const ann = reader();
    fanOut.join('sales', ann.opened);
    fanOut.publish('sales', { left: 5 });
    fanOut.publish('sales', { left: 5 });
    fanOut.publish('sales', { left: 4 });
    expect(ann.frames).toHaveLength(2);
  });

  it('who comes later gets the present state at once; who comes back with it gets nothing, who missed it gets it', () => {
    const fanOut = createFanOut({ onDropped: () => undefined });
    const first = reader();
    fanOut.join('sales', first.opened);
    fanOut.publish('sales', { left: 5 });
    const had = idOf(first.frames[0]);
    const [late, same, behind] = [reader(), reader(), reader()];
    fanOut.join('sales', late.opened);
    fanOut.join('sales', same.opened, had);
    fanOut.join('sales', behind.opened, 'an-older-state');
    expect([late.frames.length, same.frames.length, behind.frames.length]).toEqual([1, 0, 1]);
  });

  it('an event has the same id in every process, so that a client may come back to another', () => {
    const ids = [1, 2].map(() => {
      const fanOut = createFanOut({ onDropped: () => undefined });
      const ann = reader();
      fanOut.join('sales', ann.opened);
      fanOut.publish('sales', { left: 5 });
      return idOf(ann.frames[0]);
    });
    expect(ids[0]).toBe(ids[1]);
  });

  it('a slow reader is dropped once, the others get every state', () => {
    let dropped = 0;
    const fanOut = createFanOut({
      onDropped: () => {
        dropped += 1;
      },
    });
    const slow = reader(() => false);
    const quick = reader();
    fanOut.join('sales', slow.opened);
    fanOut.join('sales', quick.opened);
    for (let left = 3; left > 0; left -= 1) fanOut.publish('sales', { left });
    expect([dropped, slow.ended(), quick.frames.length, fanOut.readers()]).toEqual([1, 1, 3, 1]);
  });

  it('keeps nothing of a topic that its last reader has left', () => {
    const fanOut = createFanOut({ onDropped: () => undefined });
    const ann = reader();
    const leave = fanOut.join('order:1', ann.opened);
    fanOut.publish('order:1', { status: 'PENDING' });
    leave();
    leave();
    expect(fanOut.topics()).toEqual([]);
    fanOut.publish('order:1', { status: 'PAID' });
    expect(fanOut.topics()).toEqual([]);
  });

  it('ends all readers when the process stops', () => {
    const fanOut = createFanOut({ onDropped: () => undefined });
    const readers = [reader(), reader()];
    for (const { opened } of readers) fanOut.join('sales', opened);
    fanOut.endAll();
    expect([readers.map(({ ended }) => ended()), fanOut.readers()]).toEqual([[1, 1], 0]);
  });
});

describe('the limits of live views', () => {
  it('one user gets so many, all together so many, and a place given back twice counts once', () => {
    const limits = createStreamLimits({ streams: 3, perUser: 2, perAddress: 3 });
    const taken = ['ann', 'ann', 'bea'].map((userId) => limits.take({ userId }));
    expect(taken.map(({ kind }) => kind)).toEqual(['taken', 'taken', 'taken']);
    expect(limits.take({ userId: 'cem' }).kind).toBe('full');
    const [first] = taken;
    if (first?.kind !== 'taken') throw new Error('not taken');
    first.release();
    first.release();
    expect(limits.take({ userId: 'cem' }).kind).toBe('taken');
    expect(limits.take({ userId: 'dan' }).kind).toBe('full');
    const small = createStreamLimits({ streams: 10, perUser: 1, perAddress: 10 });
    small.take({ userId: 'ann' });
    expect(small.take({ userId: 'ann' }).kind).toBe('full_for_user');
    expect(small.take({ userId: 'bea' }).kind).toBe('taken');
  });

  it('the guests of one address get so many, whoever they say they are; another address, and one signed in, has its own', () => {
    const limits = createStreamLimits({ streams: 10, perUser: 10, perAddress: 2 });
    const take = (userId: string, address?: string) => limits.take({ userId, address });
    const [first, second] = [take('g1', 'here'), take('g2', 'here')];
    expect([first.kind, second.kind, take('g3', 'here').kind]).toEqual([
      'taken',
      'taken',
      'full_for_address',
    ]);
    expect([take('g4', 'there').kind, take('ann').kind]).toEqual(['taken', 'taken']);
    if (first.kind === 'taken') first.release();
    expect([take('g3', 'here').kind, take('g5', 'here').kind]).toEqual(['taken', 'full_for_address']);
  });
});
