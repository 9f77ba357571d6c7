import { createLogger, type Logger } from '@lapse/runtime';

/** Only what makes a figure doubtful may stand between the figures. */
export const quietLog: Logger = createLogger('bench', 'error');
