import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('producer', { part: 1, of: 3 });
