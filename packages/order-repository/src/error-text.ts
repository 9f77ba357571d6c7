/** Most characters that `last_error` keeps. */
export const errorTextMax = 1_000;
