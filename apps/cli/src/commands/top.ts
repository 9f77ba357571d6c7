import { sleep } from '@lapse/runtime';
import type { Command } from '../command.ts';
import { topShape } from '../shapes/top.ts';
import { openTop } from '../top/read-top.ts';
import { renderTop } from '../top/render-top.ts';

const refreshMs = 1_000;
/** A screen of its own, so that what was there before comes back; the cursor hidden. */
const enterScreen = '\x1b[?1049h\x1b[?25l';
const leaveScreen = '\x1b[?25h\x1b[?1049l';
const fromTheTop = '\x1b[H';
const toTheEnd = '\x1b[J';
const lineEnd = '\x1b[K\n';

/** `lapse top`: live on a terminal, until Ctrl-C; once in a pipe, with --once, and with --json. */
export const top: Command = async (context, { options }) => {
  const { io, words } = context;
  const look = openTop({ orders: await context.orders(), stock: await context.stock() });
  if (options.once === true || options.json === true || io.out.isTTY !== true) {
    const view = await look();
    return { shape: topShape, data: view, text: renderTop(view, words) };
  }
  io.out.write(enterScreen);
  try {
    while (!io.signal.aborted) {
      const picture = renderTop(await look(), words).replaceAll('\n', lineEnd);
      io.out.write(`${fromTheTop}${picture}${lineEnd}Ctrl-C ends it${toTheEnd}`);
      await sleep(refreshMs, io.signal);
    }
  } finally {
    io.out.write(leaveScreen);
  }
  return null;
};
