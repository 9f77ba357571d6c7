import { killAtEveryPoint } from './kill-at-every-point.ts';

killAtEveryPoint('producer', { part: 3, of: 3 });
