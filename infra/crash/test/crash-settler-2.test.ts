import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('settler', { part: 2, of: 2 });
