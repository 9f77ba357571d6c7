/** What our own programs write once they can work. */
export const readyText = 'bench: ready';
