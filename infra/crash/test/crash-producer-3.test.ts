import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('producer', 3);
