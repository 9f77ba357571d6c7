import type { Verdict } from '@lapse/testing';

type Lateness = Pick<Verdict['lateness'], 'max' | 'early'>;

/** Of all looks at a run: what was late or early in one of them was so. */
export function worstLateness(looks: readonly { readonly lateness: Lateness }[]): Lateness {
  return {
    max: Math.max(0, ...looks.map(({ lateness }) => lateness.max)),
    early: Math.max(0, ...looks.map(({ lateness }) => lateness.early)),
  };
}
