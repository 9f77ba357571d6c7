import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('settler', { part: 1, of: 2 });
