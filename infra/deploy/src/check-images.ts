import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import { workInLanes } from '@lapse/runtime';
import { buildTree, type Tree } from './build-tree.ts';
import { makeEmptyFolder } from './confine.ts';
import { type Image, images } from './images.ts';
import { runTree } from './run-tree.ts';
import { type ShopSettings, type Stores, writeShopSettings } from './shop-settings.ts';
import { type Started, startTree } from './start-tree.ts';

/** Trees written at once. */
const lanes = 2;

export interface ImageReport {
  readonly app: string;
  readonly bytes: number;
  readonly packages: number;
  /** Absent for a command, which ends. */
  readonly readyMs?: number;
  readonly rssBytes?: number;
}

export interface ImagesResult {
  readonly reports: readonly ImageReport[];
  /** How many images do what they are for. */
  readonly good: number;
  /** Each image that does not do what it is for, and how. */
  readonly faults: readonly string[];
}

/**
 * Write the production tree of every image, and start each from it alone against real stores: schema and topics by the
 * command line, then one process after the other until it says that it is ready, and in the end all are told to stop.
 * An image whose tree or process fails is a fault and the others go on. Leaves nothing behind.
 */
export async function checkImages(root: string, stores: Stores, signal: AbortSignal): Promise<ImagesResult> {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-images-'));
  // The images' user passes through.
  chmodSync(dir, 0o711);
  const faults: string[] = [];
  const bad = new Set<string>();
  const trees = new Map<string, Tree>();
  const started: Started[] = [];
  const attempt = async (app: string, task: () => Promise<void>): Promise<void> => {
    await task().catch((error: unknown) => {
      bad.add(app);
      faults.push(error instanceof Error ? error.message : String(error));
    });
  };
  try {
    await workInLanes(images, lanes, ({ app }) =>
      attempt(app, async () => void trees.set(app, await buildTree(root, app, join(dir, app), signal))),
    );
    const shop = await writeShopSettings(dir, stores);
    const cwd = makeEmptyFolder(dir);
    for (const image of images) {
      const tree = trees.get(image.app);
      if (tree !== undefined)
        await attempt(image.app, () => use(image, tree, { shop, cwd, started, signal }));
    }
    const reports = images.flatMap(({ app }) => report(app, trees.get(app), started));
    await Promise.all(started.map((process) => attempt(process.app, process.stop)));
    return { reports, good: images.length - bad.size, faults };
  } finally {
    for (const process of started) process.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Place {
  readonly shop: ShopSettings;
  readonly cwd: string;
  readonly started: Started[];
  readonly signal: AbortSignal;
}

async function use({ app, target }: Image, tree: Tree, { shop, cwd, started, signal }: Place): Promise<void> {
  const common = { app, tree: tree.dir, cwd, env: shop.env, signal };
  if (target === 'service') {
    started.push(await startTree({ ...common, opsPort: await freePort(), writable: [shop.journal] }));
    return;
  }
  await runTree({ ...common, args: ['schema', 'migrate'] });
  await runTree({ ...common, args: ['topics', 'apply'] });
}

function report(app: string, tree: Tree | undefined, started: readonly Started[]): ImageReport[] {
  if (tree === undefined) return [];
  const process = started.find((one) => one.app === app);
  const rssBytes = process?.rssBytes();
  return [
    {
      ...{ app, bytes: tree.bytes, packages: tree.packages },
      ...(process !== undefined && { readyMs: process.readyMs }),
      ...(rssBytes !== undefined && { rssBytes }),
    },
  ];
}
