import { Readable } from 'node:stream';
import { z } from 'zod';
import { defineRoute, type Route } from '../http';
import { openApiDocument } from '../http/openapi-document';
import { DOCS_CONTENT_POLICY, DOCS_PAGE } from './docs-page';
import { VIEWER_FILES, VIEWER_TYPES, ViewerFiles } from './viewer-files';

export interface DocumentOptions {
  version: string;
  routes: () => readonly Route[];
}

/** The OpenAPI document, the page that shows it, and the files of its viewer; all public. */
export function documentRoutes(options: DocumentOptions): Route[] {
  let document: Buffer | null = null;
  const viewer = new ViewerFiles();
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
        stream: Readable.from([DOCS_PAGE]),
        headers: {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Length': String(DOCS_PAGE.length),
          'Content-Security-Policy': DOCS_CONTENT_POLICY,
          'Cache-Control': 'public, max-age=60',
        },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/docs/{file}',
      base: 'site',
      summary: 'Get a file of the documentation page',
      tag: 'meta',
      request: { params: z.object({ file: z.enum(VIEWER_FILES) }) },
      responses: {
        200: {
          description: 'A script or a style sheet',
          schema: z.string(),
          contentType: 'text/javascript',
          alternatives: ['text/css'],
          headers: { Vary: 'Accept-Encoding', 'Content-Encoding': 'gzip for clients that take it' },
        },
      },
      handler: async ({ params: { file }, headers }) => {
        const takesGzip = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
        const bytes = takesGzip ? await viewer.readPacked(file) : await viewer.read(file);
        return {
          status: 200,
          stream: Readable.from([bytes]),
          headers: {
            'Content-Type': `${VIEWER_TYPES[file]}; charset=utf-8`,
            'Content-Length': String(bytes.length),
            ...(takesGzip ? { 'Content-Encoding': 'gzip' } : {}),
            Vary: 'Accept-Encoding',
            'Cache-Control': 'public, max-age=3600',
          },
        };
      },
    }),
  ];
}
