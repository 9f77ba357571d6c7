import type { Random } from './random.ts';
import type { Incarnation } from './scheduler.ts';
import { type ProcessKind, type Producer, startProcess } from './start-process.ts';
import type { World } from './world.ts';

interface Life {
  readonly owner: Incarnation;
  /** Undefined until its first step. */
  entry: Producer | undefined;
}

interface Running {
  readonly kind: ProcessKind;
  readonly name: string;
  lives: number;
  life: Life;
}

export interface Processes {
  /** One that accepts connections: a frozen one does too, and does not answer. */
  anyProducer(): { readonly owner: Incarnation; readonly entry: Producer } | undefined;
  isAnyAwake(kind: ProcessKind): boolean;
  /** Called with each answer that a process gets: it may die there, or stand still. */
  strike(owner: Incarnation): void;
  /** The dead come back, the frozen go on. */
  heal(): void;
}

/** Wall clocks are this far off. */
const wallSkewMsMax = 90_000;
const restartMsMax = 10_000;
const frozenMsMax = 45_000;
/** Until MySQL sees that the connection of a dead process is gone. */
const connectionLostMsMax = 2_000;

/** The processes of one run: one or two of each kind, which are killed, restarted, frozen and resumed. */
export function startProcesses(world: () => World, random: Random): Processes & { begin(): void } {
  const running: Running[] = [];

  function birth(kind: ProcessKind, name: string): Life {
    const owner: Incarnation = {
      name,
      wallSkewMs: random.int(-wallSkewMsMax, wallSkewMsMax),
      alive: true,
      frozen: false,
    };
    const life: Life = { owner, entry: undefined };
    // Its first code runs as its own step, like all that follows.
    world().scheduler.after(0, owner, () => {
      life.entry = startProcess(world(), kind, owner);
    });
    return life;
  }

  function rebirth(one: Running): void {
    if (one.life.owner.alive) return;
    one.lives += 1;
    one.life = birth(one.kind, `${one.name}.${one.lives}`);
    world().trace('  chaos', () => `${one.life.owner.name} starts`);
  }

  function kill(one: Running): void {
    const { scheduler, trace, openTransactions } = world();
    const { owner } = one.life;
    trace('  chaos', () => `${owner.name} is killed`);
    scheduler.kill(owner);
    const undo = openTransactions.get(owner);
    openTransactions.delete(owner);
    if (undo) scheduler.after(random.int(0, connectionLostMsMax), null, undo);
    scheduler.after(random.int(100, restartMsMax), null, () => rebirth(one));
  }

  function freeze({ life: { owner } }: Running): void {
    const { scheduler, trace } = world();
    trace('  chaos', () => `${owner.name} stands still`);
    scheduler.freeze(owner);
    scheduler.after(random.int(100, frozenMsMax), null, () => {
      if (!owner.alive || !owner.frozen) return;
      trace('  chaos', () => `${owner.name} goes on`);
      scheduler.thaw(owner);
    });
  }

  return {
    begin: () => {
      const counts: readonly (readonly [ProcessKind, number])[] = [
        ['producer', random.int(1, 2)],
        ['reminder', random.int(1, 2)],
        ['closer', random.int(1, 2)],
        ['sweeper', random.int(1, 2)],
        ['settler', random.int(1, 2)],
      ];
      for (const [kind, count] of counts) {
        for (let number = 1; number <= count; number += 1) {
          const name = `${kind}-${number}`;
          running.push({ kind, name, lives: 1, life: birth(kind, name) });
        }
      }
    },
    anyProducer: () => {
      const able = running.flatMap(({ life: { owner, entry } }) =>
        owner.alive && entry ? [{ owner, entry }] : [],
      );
      return able.length > 0 ? random.pick(able) : undefined;
    },
    isAnyAwake: (kind) =>
      running.some(({ kind: own, life }) => own === kind && life.owner.alive && !life.owner.frozen),
    strike: (owner) => {
      const one = running.find(({ life }) => life.owner === owner);
      if (!one || !owner.alive || owner.frozen) return;
      if (world().faults.strikes('process-killed')) kill(one);
      else if (world().faults.strikes('process-frozen')) freeze(one);
    },
    heal: () => {
      for (const one of running) {
        const { owner } = one.life;
        if (!owner.alive) rebirth(one);
        else if (owner.frozen) world().scheduler.thaw(owner);
      }
    },
  };
}
