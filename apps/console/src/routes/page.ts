import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { ConsoleDependencies } from '../console-dependencies.ts';

/** Addresses that the page itself tells apart. */
const views = ['/', '/orders/:id', '/ops', '/ops/list', '/ops/orders/:id', '/sign-in'];

/** The page was not built. */
class PageMissingError extends Error {
  readonly code = 'LAPSE_PAGE_NOT_BUILT';
  override readonly name = 'PageMissingError';
}

/** The built page: one document, and files whose names change with their content. */
export const pageRoutes: FastifyPluginAsyncZod<ConsoleDependencies> = async (app, { pageDir }) => {
  const document = readDocument(join(pageDir, 'index.html'));
  await app.register(fastifyStatic, {
    root: join(pageDir, 'assets'),
    prefix: '/assets/',
    index: false,
    immutable: true,
    maxAge: '365d',
    preCompressed: true,
    decorateReply: false,
  });
  for (const url of views) {
    app.get(url, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(document),
    );
  }
};

function readDocument(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new PageMissingError(
      `The page is not built: run "npm run build" at the root (${file} is missing).`,
      {
        cause: error,
      },
    );
  }
}
