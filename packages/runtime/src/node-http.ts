/**
 * Node's own `node:http`. Imported the usual way, all that it exports is looked up at once, and two of its exports load
 * Node's HTTP client (undici), web streams and worker threads: 60 ms of CPU and 6 MB in a process that uses none of them.
 */
export const nodeHttp = process.getBuiltinModule('node:http');
