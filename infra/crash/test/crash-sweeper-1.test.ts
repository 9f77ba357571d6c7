import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('sweeper', { part: 1, of: 3 });
