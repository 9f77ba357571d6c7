import type { Pausable } from '@lapse/runtime';

export interface SaleGate extends Pausable {
  /** Whether this process takes new orders. */
  isOpen(): boolean;
  /** Count a new order until it is answered. */
  pass<T>(work: () => Promise<T>): Promise<T>;
  /** New orders that are not answered yet. */
  inHand(): number;
}

/**
 * What an operator closes to pause this process: it takes no new orders then, and answers those that it has. Payments,
 * cancels and reads pass by: a buyer who holds a place must not lose it to a pause.
 */
export function createSaleGate(): SaleGate {
  let isOpen = true;
  let inHand = 0;
  return {
    isOpen: () => isOpen,
    inHand: () => inHand,
    pass: async (work) => {
      inHand += 1;
      try {
        return await work();
      } finally {
        inHand -= 1;
      }
    },
    pause: () => {
      isOpen = false;
    },
    resume: () => {
      isOpen = true;
    },
    isDrained: () => !isOpen && inHand === 0,
  };
}
