import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('closer', 2);
