/** HEALTHCHECK of an image: exit code 0 while the process answers on its ops port, 1 otherwise. */
const url = `http://127.0.0.1:${process.env.LAPSE_OPS_PORT}/healthz`;
const answer = await fetch(url, { signal: AbortSignal.timeout(2_500) }).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
