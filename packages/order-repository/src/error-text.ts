/** Most characters of an error, or of a reason, that a row keeps: the width of its column. */
export const errorTextMax = 1_000;
