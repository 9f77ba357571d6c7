export { sharedAppEnv } from './app-env.ts';
export { UsageError } from './args.ts';
export { explain } from './explain.ts';
export { rootDir } from './folders.ts';
export { mintToken } from './mint-token.ts';
export { onStop } from './on-stop.ts';
export { prepareStores } from './prepare.ts';
export { createPrinter, type Printer } from './print.ts';
export { type DemoSecrets, readSecrets } from './secrets.ts';
