import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('sweeper', { part: 2, of: 3 });
