import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('producer', { part: 2, of: 3 });
