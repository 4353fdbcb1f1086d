import { z } from 'zod';
import { defineRoute, type Route } from '../http';
import { openApiDocument } from '../http/openapi-document';
import { docsPage } from './docs-page';

export interface DocumentOptions {
  version: string;
  routes: () => readonly Route[];
}

/** The OpenAPI document and the page that shows it; both public. */
export function documentRoutes(options: DocumentOptions): Route[] {
  let document: Buffer | null = null;
  const page = docsPage();
  return [
    defineRoute({
      method: 'GET',
      path: '/openapi.json',
      summary: 'Get the OpenAPI document',
      tag: 'meta',
      responses: {
        200: { description: 'OpenAPI 3.1.0', schema: z.record(z.string(), z.unknown()) },
      },
      handler: () => {
        document ??= Buffer.from(JSON.stringify(openApiDocument(options.routes(), options)));
        return { status: 200, json: document, headers: { 'Cache-Control': 'public, max-age=60' } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/docs',
      base: 'site',
      summary: 'Get the API documentation',
      tag: 'meta',
      responses: { 200: { description: 'A page', contentType: 'text/html' } },
      handler: () => ({
        status: 200,
        stream: page.chunks(),
        headers: {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Length': String(page.length),
          'Content-Security-Policy': page.contentSecurityPolicy,
          'Cache-Control': 'public, max-age=60',
        },
      }),
    }),
  ];
}
