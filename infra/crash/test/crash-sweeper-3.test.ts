import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('sweeper', { part: 3, of: 3 });
