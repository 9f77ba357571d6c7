/** `NAME` or `NAME@3`: the process kills itself when it passes that point for the first, or third, time. */
let wanted = parseWanted(process.env.LAPSE_CRASH_AT);
const passes = new Map<string, number>();
/** Without LAPSE_CRASH_AT there are no points, and nothing costs anything. */
const enabled = wanted.size > 0;

// A parent process that runs one sale after the other names the next point by a message, and saves a start.
if (enabled && process.channel) {
  process.on('message', (message) => {
    wanted = parseWanted(String(message));
    passes.clear();
    process.send?.('armed');
  });
  process.channel.unref();
}

/**
 * A place between two effects where a process may die. Does nothing unless LAPSE_CRASH_AT names it: then the
 * process ends there by SIGKILL, as a lost machine would end it. The crash tests go through every point.
 */
export function crashPoint(name: string): void {
  const at = wanted.get(name);
  if (at === undefined) return;
  const pass = (passes.get(name) ?? 0) + 1;
  passes.set(name, pass);
  if (pass === at) process.kill(process.pid, 'SIGKILL');
}

/**
 * The same port, with a crash point before and after each call of a method: `orders.closeExpired:before`. The
 * port itself unless LAPSE_CRASH_AT is set, so that it costs nothing.
 */
export function withCrashPoints<T extends object>(name: string, port: T): T {
  if (!enabled) return port;
  return new Proxy(port, {
    get(target, property, receiver) {
      const member: unknown = Reflect.get(target, property, receiver);
      if (typeof member !== 'function' || typeof property !== 'string') return member;
      return (...args: unknown[]): unknown => {
        crashPoint(`${name}.${property}:before`);
        const result: unknown = Reflect.apply(member, target, args);
        if (!(result instanceof Promise)) {
          crashPoint(`${name}.${property}:after`);
          return result;
        }
        return result.then((value: unknown) => {
          crashPoint(`${name}.${property}:after`);
          return value;
        });
      };
    },
  });
}

function parseWanted(text: string | undefined): ReadonlyMap<string, number> {
  const points = new Map<string, number>();
  for (const part of text?.split(',') ?? []) {
    const [name = '', count = '1'] = part.trim().split('@');
    if (name !== '') points.set(name, Number(count));
  }
  return points;
}
