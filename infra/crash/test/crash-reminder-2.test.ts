import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('reminder', { part: 2, of: 2 });
