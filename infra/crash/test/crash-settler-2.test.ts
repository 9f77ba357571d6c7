import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('settler', 2);
