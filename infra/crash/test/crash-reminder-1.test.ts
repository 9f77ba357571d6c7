import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('reminder', { part: 1, of: 2 });
