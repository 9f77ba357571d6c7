import type { Notice } from './notice.ts';
import type { RenderedNotice } from './render-notice.ts';

/** A notice ready to go: rendered, with its link. */
export interface RenderedDelivery {
  readonly notice: Notice;
  readonly payLink: string;
  readonly rendered: RenderedNotice;
}
