import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('reminder', 3);
