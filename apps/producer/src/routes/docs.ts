import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { activityView, orderTimeline, orderView, problems, problemView } from '@lapse/contracts';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
  type FastifyPluginAsyncZod,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { outgoingWebhooks } from './outgoing-webhooks.ts';

/**
 * Shapes that the description names once, instead of repeating them at each route. In zod's own registry, because
 * what a field says of itself (`describe`, `meta`) is there, and the description is made from one registry alone.
 */
const schemaRegistry = z.globalRegistry;
schemaRegistry.add(activityView, { id: 'Activity' });
schemaRegistry.add(orderView, { id: 'Order' });
schemaRegistry.add(orderTimeline, { id: 'OrderTimeline' });
schemaRegistry.add(problemView, { id: 'Problem' });

const description = `Unpaid orders close on time, and their stock comes back exactly once.

Times are UTC with milliseconds. Money is in minor units. Every error is a problem document (RFC 9457) whose
\`code\` is listed at [/problems](/problems). 503 and 429 carry \`Retry-After\`: send the same request again, with
the same \`Idempotency-Key\`.`;

/** Register the OpenAPI 3.1 description. Before the routes, so that it sees them. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Lapse', version: '0.1.0', description, license: { name: 'Apache-2.0' } },
      tags: ['activities', 'orders', 'payments', 'operations', 'webhooks'].map((name) => ({ name })),
      webhooks: outgoingWebhooks,
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description:
              'The buyer is `sub`. The scope `operator` may open and change activities, read any order and give it more time.',
          },
          webhookSignature: {
            type: 'apiKey',
            in: 'header',
            name: 'webhook-signature',
            description: 'Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`.',
          },
        },
      },
    },
    transform: createJsonSchemaTransform({ schemaRegistry }),
    transformObject: createJsonSchemaTransformObject({ schemaRegistry }),
  });
}

/** What a browser opens as documents: they have these headers beside those of every answer. */
const documentHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const;

const docsPage: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(documentHeaders);
    done();
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Plain http on a private network is a fair way to run this: the page must not upgrade itself away.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
    uiConfig: { validatorUrl: null, displayRequestDuration: true },
  });
};

/** The description itself, its page, the catalogue of problems, and where to look when one comes without an address. */
export const docsRoutes: FastifyPluginAsyncZod = async (app) => {
  await app.register(docsPage);
  const hidden = { schema: { hide: true } };
  app.get('/', hidden, (_request, reply) => reply.redirect('/docs/'));
  app.get('/openapi.json', hidden, (_request, reply) => reply.type('application/json').send(app.swagger()));
  app.get('/problems', hidden, (_request, reply) => reply.type('application/json').send(problems));
};
