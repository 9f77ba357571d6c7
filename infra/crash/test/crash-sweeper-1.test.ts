import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('sweeper', 1);
